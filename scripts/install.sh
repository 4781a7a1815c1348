#!/bin/sh
# Installs specahd, at the versions of constraints.txt, into a virtual environment that it makes if missing.
#
#   scripts/install.sh [--editable] [EXTRAS]    EXTRAS as pip has them: dev, embed, ray,slurm …
#
# VENV is where (.venv beside this folder, unless set), PYTHON what makes it (python3).
set -eu

usage="Usage: scripts/install.sh [--editable] [EXTRAS]"
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
venv=${VENV:-$root/.venv}
python=${PYTHON:-python3}

refuse() {
  echo "install.sh: $1" >&2
  exit 2
}

editable=
if [ "${1-}" = --editable ]; then
  editable=-e
  shift
fi
[ $# -le 1 ] || refuse "expected at most one list of extras, got $#. $usage"
extras=${1-}
case $extras in
  *[!a-z,]*) refuse "expected extras such as dev or ray,slurm, got '$extras'. $usage" ;;
esac
[ -z "$extras" ] || extras="[$extras]"

# A venv without pip is what a Debian that lacks python3-venv, or Ctrl-C, leaves behind.
if ! "$venv/bin/python" -m pip --version >/dev/null 2>&1; then
  command -v "$python" >/dev/null || refuse "there is no $python; set PYTHON to Python 3.11 or newer."
  "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
    refuse "expected Python 3.11 or newer, got $("$python" --version 2>&1); set PYTHON to one."
  echo "Making the environment $venv"
  # Only what was an environment is cleared.
  [ ! -e "$venv/pyvenv.cfg" ] || clear=--clear
  # shellcheck disable=SC2086
  "$python" -m venv ${clear-} "$venv"
fi
echo "Installing specahd$extras and the packages that it needs, which takes some minutes"
# Of what pip says, how far it is; it would say a thousand lines. The last command has its status.
# shellcheck disable=SC2086  # no -e is no word
{
  "$venv/bin/python" -u -m pip install --disable-pip-version-check --progress-bar off \
    -c "$root/constraints.txt" $editable "$root$extras" && echo "Ended 0" || echo "Ended $?"
} | {
  found=0
  while read -r word rest; do
    case $word in
      Installing) word="$word ${rest%% *}" ;;
    esac
    case $word in
      Collecting | Processing)
        found=$((found + 1))
        [ $((found % 20)) -ne 0 ] || echo "  $found packages found"
        ;;
      # Not pip's "Installing build dependencies", which come before all packages are found.
      "Installing collected")
        [ "$found" -lt 20 ] || echo "  $found packages found; writing them, a minute or so"
        ;;
      Ended) exit "$rest" ;;
    esac
  done
  exit 1
}
