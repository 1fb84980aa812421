#!/usr/bin/env bash
# Builds the documentation site, and opens every page in headless Chromium (docs/site/check.mjs).
# The screenshots are in bin/site-screenshots. Without Chromium or npm it ends with code 77; root
# installs Chromium from Debian's packages.
set -euo pipefail
cd "$(dirname "$0")/.."

(cd docs/site && go run . -out ../../bin/site)
if ! command -v npm >/dev/null; then
	echo "SKIPPED: no npm, which installs playwright-core" >&2
	exit 77
fi
if ! command -v chromium >/dev/null && ((EUID == 0)) && command -v apt-get >/dev/null; then
	apt-get install -y -q chromium >/dev/null || true
fi
if ! command -v "${CHROMIUM:-chromium}" >/dev/null; then
	echo "SKIPPED: no chromium: install it, or name it in CHROMIUM" >&2
	exit 77
fi
npm install --silent --no-fund --no-audit --no-save --prefix bin/tools/node playwright-core@1.64.1
CHROMIUM=$(command -v "${CHROMIUM:-chromium}") PLAYWRIGHT=$PWD/bin/tools/node/node_modules/playwright-core \
	node docs/site/check.mjs bin/site bin/site-screenshots
