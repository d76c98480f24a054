#!/bin/sh
# Makes the fonts of ui/fonts. geist.woff2, from the npm package @fontsource-variable/geist, has the signs of every page;
# geist-more.woff2, from the package geist, has European letters and further signs, and is loaded when a page shows one of
# them. Run it by hand after a new release of Geist or a new sign in the texts of the interface; the same signs stand in
# `unicode-range` of ui/tokens.css.
# Needs npm and Python with venv.
set -eu
here=$(cd "$(dirname "$0")/../.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm pack --silent @fontsource-variable/geist@5.3.0 >/dev/null
tar xzf fontsource-variable-geist-*.tgz
python3 -m venv venv
venv/bin/pip install --quiet fonttools==4.60.1 brotli==1.1.0
# The interface has the weights 400 and 600. tnum: figures of one width, for columns.
venv/bin/fonttools varLib.instancer package/files/geist-latin-wght-normal.woff2 wght=400:600 -o geist.ttf -q
venv/bin/pyftsubset geist.ttf --flavor=woff2 --layout-features=tnum --no-hinting --desubroutinize \
  --unicodes=U+20-7E,U+B7,U+D7,U+2013,U+2014,U+2018-201D,U+2026 \
  --output-file="$here/ui/fonts/geist.woff2"
cp package/LICENSE "$here/ui/public/geist-license.txt"
rm -r package
npm pack --silent geist@1.9.2 >/dev/null
tar xzf geist-1.9.2.tgz
venv/bin/fonttools varLib.instancer package/dist/fonts/geist-sans/Geist-Variable.ttf wght=400:600 -o more.ttf -q
venv/bin/pyftsubset more.ttf --flavor=woff2 --layout-features=tnum --no-hinting --desubroutinize \
  --unicodes=U+A0-B6,U+B8-D6,U+D8-17F,U+218-21B,U+2020-2022,U+2030,U+2039-203A,U+20AC,U+2122,U+2190-2193,U+2212,U+2248,U+2260,U+2264-2265 \
  --output-file="$here/ui/fonts/geist-more.woff2"
ls -l "$here/ui/fonts"

