#!/usr/bin/env bash
# Writes planners.txt: quality and time of every planner.
#   docs/results/planners.sh FOLDER > docs/results/planners.txt
# FOLDER has the instances of MiniMalloc (minimalloc/*.1048576.csv) and idealloc (idealloc/*.csv).
#   REPEAT   times per median (default 5)
#   UNITS    sizes of generated problems (default 100,1000,10000,100000)
#   DJLPLAN  the command (default: djlplan of this tree)
set -euo pipefail

[[ $# == 1 ]] || { sed -n '2,7s/^# \{0,1\}//p' "$0" >&2; exit 2; }
here=$(dirname "$(readlink -f "$0")")
djlplan=${DJLPLAN:-$here/../../djlplan}
cd "$1"

bench() {
    echo
    echo "== djlplan bench-planner $*"
    echo
    "$djlplan" bench-planner "$@"
}

echo "Quality and time of every planner"
echo "command: REPEAT=${REPEAT:-5} UNITS=${UNITS:-100,1000,10000,100000} docs/results/planners.sh FOLDER"
echo "machine: $(nproc) cores, $(grep MemTotal /proc/meminfo | tr -s ' '), $(uname -sm)," \
    "Java $(java -XshowSettings:properties -version 2>&1 | sed -n 's/ *java.runtime.version = //p')"
echo "load average when it began: $(cut -d " " -f 1-3 /proc/loadavg)"
echo "% > bound: above the maximum operator breadth; for shared objects, above the sum of positional maxima."
echo "Times are medians after a warm-up, JVM start and validation not counted; every plan is validated. Fewer runs"
echo "where they take 10 seconds together. Exponents are slopes over the three largest sizes: a factor of log n adds about .1."

bench --repeat "${REPEAT:-5}" minimalloc/*.csv
bench --repeat "${REPEAT:-5}" idealloc/*.csv
bench --repeat "${REPEAT:-5}" --units "${UNITS:-100,1000,10000,100000}"
