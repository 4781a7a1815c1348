"""What a user sees of runs in MLflow's own UI, in a browser, without clicking columns together.

With SPECAHD_PICTURES=FOLDER the pages are kept as pictures, as docs/pictures has them.
"""

import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import psutil
import pytest
from PIL import Image
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.support.wait import WebDriverWait

from run_directories import row, sample, write_run
from specahd.runs.files import POOLS
from specahd.tracking.store import VIEW, ui_address

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
SWEEP = ["problem=cvrp", "llm=offline", "budget=smoke", "-m", "seed=0,1,2"]
TINY = [
    *("budget.programs=6", "budget.rounds=1", "budget.lower_train=4", "budget.upper_train=3"),
    *("budget.selection=3", "budget.validation=5"),
]
QUIET = [
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    "--window-size=1600,1000",
]
PATIENCE = 120
# What a picture keeps of a page, in pixels: left, top, right, bottom. The rest is MLflow's menu.
PARTS = {
    "runs": (215, 150, 1425, 440),
    "compare": (515, 345, 1545, 705),
    "candidates": (555, 130, 1550, 790),
}
# An element that is narrower than its words is cut.
UNCUT = """
    const words = document.createRange();
    words.selectNodeContents(arguments[0]);
    const [needed, shown] = [words, arguments[0]].map(part => part.getBoundingClientRect().width);
    return needed <= shown + 1;
"""


@pytest.fixture
def server(tmp_path):
    """Three small trainings, and the server of `make ui` over their store."""
    size = [] if "SPECAHD_PICTURES" in os.environ else TINY
    command = [sys.executable, "-m", "specahd.train", *size, *SWEEP]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "mlflow", "server", "--workers", "1", "--port", str(port)]
    quiet = {"MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false", "MLFLOW_DISABLE_TELEMETRY": "true"}
    with (tmp_path / "server.log").open("w") as log:
        process = psutil.Popen(
            [*command, "--backend-store-uri", "sqlite:///mlruns/mlflow.db"],
            cwd=tmp_path, stdout=log, stderr=log, env={**os.environ, **quiet},
        )  # fmt: skip
        try:
            wait_for(f"http://127.0.0.1:{port}/health", process)
            # One worker and no jobs: the server, uvicorn, and nobody else.
            assert len(process.children(recursive=True)) <= 2
            yield f"http://127.0.0.1:{port}"
        finally:
            for child in (*process.children(recursive=True), process):
                child.kill()
            process.wait(10)


def wait_for(address, process):
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until and process.is_running():
        try:
            with urllib.request.urlopen(address, timeout=5):
                return
        except (urllib.error.URLError, TimeoutError):
            time.sleep(0.2)
    raise AssertionError(f"{address} did not answer")


@pytest.fixture
def browser(tmp_path):
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for switch in (*QUIET, f"--user-data-dir={tmp_path / 'profile'}"):
        options.add_argument(switch)
    driver = webdriver.Chrome(options, webdriver.ChromeService(DRIVER))
    yield driver
    driver.quit()


class Page:
    """What a user does: open, look for something, click, read."""

    def __init__(self, browser):
        self.browser = browser

    def open(self, address):
        self.browser.get(address)

    def see(self, selector, count=1):
        def there(browser):
            found = browser.find_elements(By.CSS_SELECTOR, selector)
            shown = [element for element in found if element.is_displayed()]
            return shown if len(shown) >= count else None

        return WebDriverWait(self.browser, PATIENCE).until(there, f"nothing is {selector}")

    def click(self, words, kind="a"):
        # Of words that end in "…", what begins so.
        begin, dots, _ = words.partition("…")
        rule = f"starts-with(normalize-space(), '{begin}')"
        path = f"//{kind}[{rule}]" if dots else f"//{kind}[normalize-space()='{words}']"
        WebDriverWait(self.browser, PATIENCE).until(
            lambda browser: browser.find_element(By.XPATH, path), f"no {words} to click"
        ).click()

    def read(self, words):
        body = self.browser.find_element(By.TAG_NAME, "body")
        WebDriverWait(self.browser, PATIENCE).until(lambda _: words in body.text, f"no {words!r}")

    def keep(self, name):
        if "SPECAHD_PICTURES" in os.environ:
            time.sleep(1)  # what slides in has come to rest
            path = Path(os.environ["SPECAHD_PICTURES"], f"mlflow-{name}.png")
            self.browser.save_screenshot(path)
            if name in PARTS:
                Image.open(path).crop(PARTS[name]).save(path, optimize=True)


@pytest.mark.skipif(not (CHROMIUM and DRIVER), reason="chromium or chromedriver is missing")
def test_runs_candidates_and_charts_are_there_to_see(server, browser):
    page = Page(browser)
    # What two clicks at a first visit settle: no panel of the assistant, and "Model training".
    page.open(f"{server}/health")
    browser.execute_script(
        "localStorage.setItem('mlflow.assistant.fab.autoOpenedOnFirstLoad_v1', 'true');"
        "localStorage.setItem('mlflow.workflowType_v1', '\"machine_learning\"')"
    )
    view = ui_address(server, "1")

    page.open(view)
    [first, *_] = page.see("[data-testid^='sort-header-improvement_percent/selection']")
    for column in ("problem.repair", "problem.baseline", "budget"):
        after = page.see(f"[data-testid='sort-header-{column}']")[0]
        assert after.location["x"] > first.location["x"]
    assert [each.text for each in page.see("[col-id='tags.`status`'].ag-cell", 3)][-3:] == [
        *("complete", "complete", "complete"),
    ]
    page.read("3 matching runs")
    # No run stands beside those of another problem without a word.
    page.read("Group: problem: cvrp, problem.repair: append")
    for link in page.see(".ag-cell a[href*='/runs/']", 3):
        assert re.fullmatch(r"cvrp-(\d)-seed\1 in [\d_-]+-sweep", link.text)
        assert browser.execute_script(UNCUT, link), f"{link.text} is cut"
    page.keep("runs")
    # As on a wide screen: a page draws the columns that it shows.
    browser.set_window_size(2400, 1000)
    cells = page.see(".ag-center-cols-container [col-id='params.`seed`']", 3)
    assert {"0", "1", "2"} <= {cell.text for cell in cells}
    for pool in ("selection", "validation"):
        column = f"metrics.`improvement_percent/{pool}`"
        cells = page.see(f".ag-center-cols-container [col-id='{column}']", 4)
        assert all(re.fullmatch(r"-?\d+(\.\d\d?)?( \(max\))?", cell.text) for cell in cells)
    browser.set_window_size(1600, 1000)

    page.open(f"{view}&compareRunsMode=CHART")
    cards = page.see("[data-testid='experiment-view-compare-runs-card']", 4)
    titles = [card.text.splitlines()[0] for card in cards[:4]]
    names = [*(f"improvement_percent/{pool}" for pool in POOLS), "lower/best", "upper/best"]
    assert titles == names
    page.see(".barlayer .bartext", 6)  # a bar for each run in each of two charts
    page.see(".js-plotly-plot .scatterlayer .trace path.js-line", 3)
    page.keep("compare")

    # The same view without its address: chosen from the menu.
    page.open("about:blank")
    page.open(view.partition("&")[0])
    page.see("[data-testid='saved-views-trigger']")[0].click()
    page.click(VIEW, "*[@role='menuitem' or @role='menuitemradio']")
    page.read("3 matching runs")

    page.see(".ag-cell a[href*='/runs/']", 3)[0].click()
    page.read("improvement +")
    [first, *_] = page.see("a[href*='metric']")
    assert first.text == "improvement_percent/selection"
    page.keep("run")
    # The sweep's page, and what its description leads to.
    training = browser.current_url
    page.click("20…")
    page.read("3 of 3 jobs complete")
    assert page.see("a[href*='metric']")[0].text == "improvement_percent/selection/mean"
    best = page.see("a[target='_blank'][href*='/runs/']")[0].get_attribute("href")
    page.keep("sweep")
    page.open(best)
    page.read("improvement +")
    page.open(training)
    page.read("improvement +")
    # All candidates are a table among the artifacts.
    page.click("Artifacts", "*[self::a or self::button]")
    page.click("candidates.json", "*[@data-testid='artifact-tree-node']//*")
    page.read("upper-1-0001")
    page.keep("candidates")


def program(place, source, *parents):
    return {
        **sample("lower", 1, 0.1 * place), "sample": f"lower-1-{place}", "score": 0.1 * place,
        "operator": "m1", "parents": list(parents), "source": source, "idea": "an idea",
    }  # fmt: skip


@pytest.mark.skipif(not (CHROMIUM and DRIVER), reason="chromium or chromedriver is missing")
@pytest.mark.parametrize("width", [1440, 390])
def test_the_report_and_the_pages_of_its_runs_fit_and_answer_clicks(tmp_path, browser, width):
    first = program(1, "def f():\n    return 1\n")
    samples = [first, program(2, "def f():\n    return 2\n", "lower-1-1")]
    costs = [row(f"i{place}", 100 * place, 90.0 - place) for place in range(1, 9)]
    for method in ("specahd", "eoh"):
        for seed in (0, 1):
            write_run(
                tmp_path / "runs" / f"{method}-{seed}", method=method, seed=seed, programs=2,
                samples=samples, validation=costs,
            )  # fmt: skip
    command = [sys.executable, "-m", "specahd.report", "tracking=none", "hydra.run.dir=report"]
    subprocess.run(command, cwd=tmp_path, check=True, timeout=600, capture_output=True)
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    for page in ("report", "pages/eoh-0-lineage", "pages/eoh-0-search"):
        browser.get((tmp_path / "report" / f"{page}.html").as_uri())
        wide = "return document.documentElement.scrollWidth - window.innerWidth"
        assert browser.execute_script(wide) <= 0, page
        assert browser.execute_script("return performance.now()") < 2000
        assert [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []

    browser.get((tmp_path / "report" / "report.html").as_uri())
    table = browser.find_element(By.XPATH, "//table[.//th='below B'][.//th='size']")
    head = table.find_element(By.XPATH, ".//th[.='size']")
    for order in (1, -1):
        browser.execute_script("arguments[0].click()", head)
        cells = table.find_elements(By.CSS_SELECTOR, "tr td:nth-child(2)")
        sizes = [int(cell.text) for cell in cells]
        assert sizes == sorted(sizes)[::order]

    browser.get((tmp_path / "report" / "pages" / "eoh-0-lineage.html").as_uri())
    circle = browser.find_element(By.CSS_SELECTOR, "circle[data-of='lower-1-2']")
    browser.execute_script("arguments[0].dispatchEvent(new Event('click'))", circle)
    shown = browser.find_element(By.ID, "program")
    assert shown.find_element(By.CSS_SELECTOR, ".diff .gone").text.split() == ["-", "return", "1"]
    assert shown.find_element(By.CSS_SELECTOR, ".diff .new").text.split() == ["+", "return", "2"]
    assert "“an idea”" in shown.text
    shown.find_element(By.XPATH, ".//button[.='lower-1-1']").click()
    assert shown.find_element(By.TAG_NAME, "h2").text == "lower-1-1"
    assert "Children: lower-1-2" in shown.text
