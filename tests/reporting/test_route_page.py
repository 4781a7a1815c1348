"""The page of a solution, as a dispatcher and a driver see it."""

import re
import shutil
from html.parser import HTMLParser

import pytest
from selenium import webdriver

from specahd import api
from specahd.reporting import route_page as pages
from specahd.reporting.maps import COLOURS

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
QUIET = ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars")
DATES = (
    "name,lon,lat,demand,ready,due,service\n"
    "Dépôt,13.40,52.52,,2026-12-01 06:00,2026-12-02 20:00,00:10\n"
    "Müller & Söhne,13.41,52.53,4,2026-12-01 08:00,2026-12-01 09:00,00:05\n"
    '"<script>alert(1)</script>",13.45,52.51,3,2026-12-02 08:30,,\n'
    "Bäckerei\u202e Groß,13.35,52.50,2,,,00:07\n"
)
PLANE = "x,y,demand\n0,0,\n3,4,5\n6,8,6\n0,10,7\n"
NUMBERS = "x,y,ready,due,service\n0,0,0,400,\n3,4,60,90,2\n6,8,,,\n"
VOID = {"meta"}


class Reader(HTMLParser):
    """Elements with their attributes, the cells of tables, and whether elements are closed."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.tables, self.open = [], [], []
        self.words = []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")

    def handle_startendtag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)
        if self.open and {"td", "th"} & set(self.open):
            self.tables[-1][-1][-1] += data

    def of(self, tag, kind=""):
        return [found for name, found in self.elements if name == tag and kind in _classes(found)]


def _classes(attributes):
    return ["", *attributes.get("class", "").split()]


def route_page(instance, routes):
    solution = routes[0] if instance.problem.name == "tsp" else routes
    return pages.route_page(instance.data, routes, instance.problem.cost(instance.data, solution))


def read(tmp_path, text, **options):
    (tmp_path / "stops.csv").write_text(text, encoding="utf-8")
    return api.read(tmp_path / "stops.csv", **options)


@pytest.fixture
def dates(tmp_path):
    instance = read(tmp_path, DATES, capacity=9, speed=8.3)
    routes = ((1, 2), (3,))
    assert instance.problem.check(instance.data, routes) == ()
    return route_page(instance, routes)


def test_a_page_has_the_totals_and_each_vehicle_has_its_stops(dates):
    page = Reader(dates)
    summary, one, two = page.tables
    assert summary[0] == [
        *("vehicle", "stops", "quantity", "distance"),
        *("leaves", "back", "driving", "waiting", "service"),
    ]
    assert [row[0].strip() for row in summary[1:]] == ["1", "2", "all"]
    assert [row[1:3] for row in summary[1:]] == [["2", "7"], ["1", "2"], ["3", "9"]]
    assert summary[1][4] == "2026-12-01 07:57"
    assert summary[1][5].startswith("2026-12-02 08:3")
    assert summary[3][-1] == "00:12"
    assert one[0] == [
        *("#", "stop", "arrival", "wait", "start", "departure", "window"),
        *("quantity", "load", "distance"),
    ]
    names = ["Dépôt", "Müller & Söhne", "<script>alert(1)</script>", "Dépôt"]
    assert [row[1] for row in one[1:]] == names
    # A day is told where it begins.
    assert [row[4] for row in one[1:]] == [
        "2026-12-01 07:47", "08:00", "2026-12-02 08:30", "",
    ]  # fmt: skip
    assert one[2][2:7] == ["08:00", "", "08:00", "08:05", "08:00 – 09:00"]
    assert one[3][2:4] == ["08:12", "24:17"]
    assert one[3][6] == "08:30 –"
    assert two[2][1] == r"Bäckerei\u202e Groß"
    [text] = [words for words in page.words if words.startswith("2 vehicles")]
    assert text == "2 vehicles, 3 stops, distance 16,464, 2026-12-01 06:00 to 2026-12-02 08:37"


def test_a_page_needs_no_other_file_and_runs_nothing_of_a_name(dates):
    page = Reader(dates)
    assert not re.search(r"(src|href)=.?(?!#|\")|https?:|url\(|@import", dates)
    # The one of every page: it sorts tables.
    assert len(page.of("script")) == 1
    assert "\u202e" not in dates
    assert [found["href"] for found in page.of("a")] == [f"#vehicle-{n}" for n in (1, 2, 1, 2)]
    assert [found["id"] for found in page.of("section")] == ["vehicle-1", "vehicle-2"]
    assert "@media print" in dates
    assert "prefers-color-scheme: dark" in dates


def test_bars_show_what_vehicles_do_on_one_scale(dates):
    page = Reader(dates)
    kinds = ("loading", "driving", "waiting", "service")
    assert [len(page.of("rect", kind)) for kind in kinds] == [2, 5, 1, 2]
    titles = [words for words in page.words if words.startswith("waiting: ")]
    assert titles == ["waiting: <script>alert(1)</script>, 2026-12-01 08:12 to 2026-12-02 08:30"]
    ends = [float(found["x"]) + float(found["width"]) for found in page.of("rect", "driving")]
    assert max(ends) == pytest.approx(960 - 44, abs=0.2)
    begins = [float(found["x"]) for found in page.of("rect", "loading")]
    assert min(begins) == pytest.approx(44, abs=0.1)
    ticks = re.findall(r'text-anchor="middle">([^<]+)<', dates)
    assert "12-02 00:00" in ticks
    assert len(ticks) <= 2 * 13


def test_the_map_keeps_the_shape_of_the_country(dates):
    page = Reader(dates)
    centres = [(float(found["cx"]), float(found["cy"])) for found in page.of("circle")]
    (x, y), (east, south), _ = centres
    # A degree of longitude is shorter there than one of latitude, and north is up.
    across, along = (east - x) / 0.04, (south - y) / 0.02
    assert across / along == pytest.approx(0.6085, rel=0.01)
    assert len(page.of("rect", "depot")) == 1
    assert "500 m" in page.words
    assert {"Müller & Söhne", "Dépôt"} <= set(page.words)


def test_times_that_are_numbers_and_unix_seconds_are_told_for_people(tmp_path):
    instance = read(tmp_path, NUMBERS)
    page = Reader(route_page(instance, ((1, 2),)))
    assert page.tables[1][2] == ["1", "1", "60", "", "60", "62", "60 – 90", "5"]
    unix = NUMBERS.replace(",0,400,", ",1796104800,1796191200,").replace("60,90", ",1796112000")
    instance = read(tmp_path, unix, speed=0.001)
    page = Reader(route_page(instance, ((1, 2),)))
    assert any("times in UTC" in words for words in page.words)
    assert page.tables[1][1][4] == "2026-12-01 06:00"
    assert page.tables[1][2][2:7] == ["07:23", "", "07:23", "07:23", "– 08:00"]


@pytest.mark.parametrize("zone", ["Z", "+01:00"])
def test_a_page_names_the_zone_of_its_times(tmp_path, zone):
    text = re.sub(r"(\d) (\d\d:\d\d)", rf"\1T\2{zone}", DATES)
    instance = read(tmp_path, text, capacity=9, speed=8.3)
    page = Reader(route_page(instance, ((1, 2), (3,))))
    assert any(f"times in the zone {zone}" in words for words in page.words)
    assert page.tables[1][2][4] == "08:00"


def test_problems_without_times_have_pages_too(tmp_path, data):
    instance = read(tmp_path, PLANE, capacity=11)
    page = Reader(route_page(instance, ((1, 2), (3,))))
    assert page.tables[0][0] == ["vehicle", "stops", "quantity", "distance"]
    assert page.tables[0][3] == ["all", "3", "18", "40"]
    assert page.tables[1][2] == ["1", "1", "5", "6", "5"]
    dear = read(tmp_path, PLANE, capacity=11, fixed_cost=100)
    assert "<p>2 vehicles, 3 stops, distance 40, cost 240</p>" in route_page(dear, ((1, 2), (3,)))
    split = read(tmp_path, PLANE, capacity=5, split=True)
    routes = (((1, 5),), ((2, 5),), ((2, 1),), ((3, 5),), ((3, 2),))
    page = Reader(route_page(split, routes))
    assert page.tables[3][2][2] == "1"
    tour = api.read(data / "nine.tsp")
    page = Reader(route_page(tour, [tuple(range(9))]))
    assert len(page.tables[1]) == 11
    assert not page.of("rect", "depot")
    (tmp_path / "km.csv").write_text("0,3,4\n3,0,5\n4,5,0\n")
    alone = route_page(api.read(tmp_path / "km.csv"), [(0, 1, 2)])
    assert "<p>1 vehicle, 2 stops, distance 12, places drawn from the distances</p>" in alone
    # Places that coincide, and one route for each colour and more.
    many = "x,y,demand\n0,0,\n" + "5,5,1\n" * (2 * len(COLOURS))
    instance = read(tmp_path, many, capacity=1)
    page = Reader(route_page(instance, [(node,) for node in range(1, instance.size + 1)]))
    assert len(page.of("section")) == 2 * len(COLOURS)
    assert len({found["class"] for found in page.of("a") if "class" in found}) == len(COLOURS)


@pytest.mark.skipif(not (CHROMIUM and DRIVER), reason="chromium or chromedriver is missing")
@pytest.mark.parametrize("width", [360, 1280])
def test_a_page_fits_a_telephone_and_a_screen(dates, tmp_path, width):
    (tmp_path / "page.html").write_text(dates, encoding="utf-8")
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for word in (*QUIET, f"--user-data-dir={tmp_path / 'profile'}"):
        options.add_argument(word)
    browser = webdriver.Chrome(options, webdriver.ChromeService(DRIVER))
    try:
        measure = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 500}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", measure)
        browser.get((tmp_path / "page.html").as_uri())
        # What is wider scrolls by itself, not the page.
        needed = browser.execute_script("return document.documentElement.scrollWidth")
        assert needed <= width
        letters = browser.execute_script(
            "return Math.min(...[...document.querySelectorAll('svg text')]"
            ".map(one => one.getBoundingClientRect().height));"
        )
        assert letters >= 9
    finally:
        browser.quit()
