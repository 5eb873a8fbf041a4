#!/bin/sh
# What kb does, in half a minute: checks the example `httpd/`, in which one citation is wrong on
# purpose, and checks it again to show that nothing is derived twice.
#
#   sh examples/tour.sh                 builds the program first
#   KB=path/to/kb sh examples/tour.sh   uses this one
#
# Changes nothing but the example's `.kb/`, which ignores itself and is always safe to delete.
set -eu

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
example=$root/examples/httpd

fail() {
    echo "tour: $1" >&2
    exit 1
}

if [ -z "${KB:-}" ]; then
    command -v cargo >/dev/null || fail "cargo is not on the PATH; see https://rustup.rs"
    echo '$ cargo build --release'
    (cd "$root" && cargo build --release --locked)
    KB=${CARGO_TARGET_DIR:-$root/target}/release/kb
fi
command -v "$KB" >/dev/null || fail "there is no program $KB"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# check NAME: runs kb check, keeps what it prints, and expects exit status 1.
check() {
    status=0
    "$KB" --project "$example" check --stats >"$work/$1" 2>"$work/$1.stats" || status=$?
    cat "$work/$1" "$work/$1.stats" >"$work/all"
    [ "$status" -eq 1 ] || {
        cat "$work/all"
        fail "kb check ended with status $status, not with 1"
    }
}

"$KB" --project "$example" clean >/dev/null

echo '$ kb check --stats'
check first
cat "$work/all"
grep -q 'CACG-VERIFY-001' "$work/first" || fail "the wrong citation was not reported"
grep -q ' 67 verified.* 1 failed' "$work/first" || fail "not just one citation failed"

echo
echo '$ kb check --stats                  # again: the same report, and'
check second
cmp -s "$work/first" "$work/second" || fail "the second check printed something else"
grep -q ' 0 derivations' "$work/second.stats" || fail "the second check derived something again"
cat "$work/second.stats"

echo
echo "Seen: 67 of 68 citations verified; the one that is wrong on purpose found, with the page that"
echo "says 48 where the card says 64; and a second check that printed the same with 0 derivations."
