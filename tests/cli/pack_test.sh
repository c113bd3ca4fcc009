#!/usr/bin/env bash
# shardmill sample and pack as a user runs them: exit codes, outputs, what lies in the folder.
# usage: pack_test.sh SHARDMILL
set -u
shardmill=$PWD/$1
work=$TEST_TMPDIR/work
mkdir -p "$work"
cd "$work" || exit 1
failures=0

# expect CODE WORDS… runs shardmill; its outputs are in out and err.
expect() {
  local code=$1
  shift
  "$shardmill" "$@" >out 2>err
  local got=$?
  if [ "$got" -ne "$code" ]; then
    echo "FAILED: shardmill $*: exit $got, expected $code"
    sed 's/^/  /' out err
    failures=$((failures + 1))
  fi
}
# holds FILE TEXT
holds() {
  if ! grep -qF -- "$2" "$1"; then
    echo "FAILED: $1 does not hold '$2':"
    sed 's/^/  /' "$1"
    failures=$((failures + 1))
  fi
}
# check COMMAND… must succeed.
check() {
  if ! "$@"; then
    echo "FAILED: $*"
    failures=$((failures + 1))
  fi
}
differ() { ! cmp -s "$1" "$2"; }
same_tree() { diff -r "$1" "$2" >/dev/null; }
is_empty() { [ ! -s "$1" ]; }
is_missing() { [ ! -e "$1" ]; }

# Usage.
expect 2
holds err "no command given"
expect 0 --help
holds out "pack"
check is_empty err
expect 0 pack --help
holds out "--eval-crop-mode"
expect 2 pakc
holds err "did you mean 'pack'?"
expect 2 pack
holds err "SOURCE"
expect 2 pack nowhere --cropp 3x4 -o out1
holds err "did you mean '--crop'?"
expect 2 pack nowhere -o out1 --crop 352
holds err "HEIGHTxWIDTH"
expect 2 pack nowhere -o out1 --split train,val,train
holds err "it names train twice"
expect 2 pack nowhere -o out1 --crop 352 --json
holds out '"exit_code": 2'
expect 2 pack nowhere -o out1 --crop-mode random --json
holds out '"exit_code": 2'
expect 2 pack nowhere -o out1 --crop-mode random
check is_empty out
holds err "--crop-mode random needs --crop"
expect 2 pack nowhere -o out1 --resize short=0
holds err "write HEIGHTxWIDTH, short=N or long=N"
expect 2 pack nowhere -o out1 --crop 9x9 --variants 3
holds err "--variants 3 needs --crop-mode random"
expect 2 pack nowhere -o out1 --crop 9x9 --tile-overlap 3
holds err "--tile-overlap needs"
expect 2 pack nowhere -o out1 --crop 9x16 --crop-mode tile --tile-overlap 9
holds err "--tile-overlap 9 must be less than the sides of --crop 9x16"
expect 2 pack nowhere -o out1 --augment 2 --augment-with flip,shear
holds err "there is no 'shear'"
expect 2 pack nowhere -o out1 --max-ignore 1.5
holds err "is more than 1"
expect 2 pack nowhere -o out1 --fast-resize
holds err "--fast-resize needs --resize"
expect 2 pack nowhere -o out1 --small-images refuse
holds err "--small-images refuse needs --crop"
expect 2 pack nowhere -o out1 --split train=0.5,val=0.4
holds err "the shares add up to 0.9, not to 1"
expect 2 pack nowhere -o out1 --split-by ratio --split train
holds err "give --split NAME=SHARE"
expect 2 pack nowhere -o out1 --split-by group
holds err "need each other"
expect 2 pack nowhere -o out1 --split-balanced
holds err "--split-balanced needs --split-by ratio"
expect 2 pack nowhere -o out1 --on-error sometimes
holds err "skip=N"
expect 2 pack nowhere
holds err "-o OUT is missing"
expect 2 pack nowhere -o out1 -j 4 --jobs 2
holds err "option --jobs is given 2 times; give it once"
expect 2 pack nowhere -o out1 --json --json -j
holds err "error: --jobs: "
expect 2 pack nowhere -o out1 --split ''
holds err "--split: it names no split"
expect 2 pack nowhere -o out1 --split=,
holds err "--split: it names no split"
expect 2 pack nowhere -o out1 --bands 0
holds err "--bands: write all, or numbers"
expect 2 pack nowhere -o out1 --no-data 3
holds err "--no-data needs --bands"
expect 2 pack nowhere -o out1 --layout voc --images a --labels b
holds err "are for --layout pairs, not voc"
# An empty text, as of a variable that is not set, is no value.
expect 2 pack nowhere -o out1 --shards ''
holds err "--shards: an empty text is no value"
expect 2 pack '' -o out1
holds err "SOURCE: an empty text is no value"
expect 2 pack nowhere -o ''
expect 2 sample -o ''
expect 2 verify ''
expect 2 dump info ''
expect 2 pack nowhere -o out1 --crop 65536x65536
holds err "--crop 65536x65536 is 4,294,967,296 pixels, more than --max-pixels 268435456"
expect 2 pack nowhere -o out1 --resize 300x400 --max-pixels 119999
holds err "--resize 300x400 is 120,000 pixels, more than --max-pixels 119999"
expect 3 pack nowhere -o out1 --resize 300x400 --max-pixels 120000 --image-prefix ''
expect 3 pack nowhere -o out1
holds err "shardmill pack: error: cannot read folder nowhere"
check is_missing out1
mkdir empty
expect 3 pack empty -o out1
holds err "there are no files in empty"
mkdir strange
echo hello >strange/notes.md
expect 2 pack strange -o out1
holds err "no known layout fits strange"
holds err "1 .md"
check is_missing out1

# A good pack, the same again, and into another folder with another number of threads.
expect 0 sample -o scenes --count 12 --height 48 --width 64
holds out "10 train and 2 val pairs, 48 high × 64 wide"
expect 0 pack scenes -o one --jobs 1 --shard-size 40KiB --block-size 20KiB
holds out "12 packed + 0 skipped = 12 inputs"
holds err "taken for layout suite"
check test -f one/manifest.json
check test "$(find one -name 'train-*-of-00004.shard' | wc -l)" -eq 4
check test "$(find one -name '.*' -type f | wc -l)" -eq 0
expect 0 pack scenes -o four --jobs 4 --shard-size 40KiB --block-size 20KiB --quiet
check is_empty err
check same_tree one four
expect 2 pack scenes -o one
holds err "holds a data set already; replace it with --overwrite"
expect 0 pack scenes -o one --jobs 2 --shard-size 40KiB --block-size 20KiB
holds err "holds this data set already"
check same_tree one four
expect 0 pack scenes -o one --overwrite --one-hot bits
check test "$(find one -type f | wc -l)" -eq 4
check test -s one/pack-report.html
holds out "report: one/pack-report.html"
check test "$(find one -mindepth 1 -type d | wc -l)" -eq 0

# A dry run writes nothing.
expect 0 pack scenes -o dry --dry-run
holds out "plan: 12 inputs"
check is_missing dry
expect 0 pack scenes -o groups --split-by group --group-pattern '([0-9])[.]' --seed 3 --split a=0.5,b=0.5
holds out "a: "
expect 0 dump records groups --split a --json
holds out '"key"'
expect 0 pack scenes --dry-run --json
holds out '"dry_run": true'
holds out '"estimated_bytes": '
holds out '"problems": []'

# Shards of a stopped pack of the same set are written again; of another set they are kept.
mkdir stopped
cp four/train-00000-of-00004.shard stopped/
expect 0 pack scenes -o stopped --shard-size 40KiB --block-size 20KiB
check same_tree stopped four
mkdir other
cp four/train-00000-of-00004.shard other/
expect 2 pack scenes -o other --crop 16x16
holds err "holds shards of another data set"
check test -f other/train-00000-of-00004.shard

# JSON is one object on stdout.
expect 0 pack scenes -o json --json --quiet
check is_empty err
check python3 -c '
import json
report = json.load(open("out"))
assert report["packed"] == 12 and report["skipped"] == 0 and report["inputs"] == 12
assert [s["name"] for s in report["splits"]] == ["train", "val"]
assert report["classes"][0]["name"] == "sky" and report["classes"][0]["color"] == "#808080"
assert abs(sum(c["share"] for c in report["classes"]) - 1) < 1e-9
'

# Damaged and missing inputs.
cp -r scenes broken
head -c 900 scenes/train/scene_0003.png >broken/train/scene_0003.png
: >broken/train/scene_0005.png
expect 4 pack broken -o bad
holds err "shardmill pack: error: train/scene_000"
holds err "; correct it, or leave out what cannot be packed with --on-error skip"
check is_missing bad
rm broken/train_labels/scene_0007_L.png
expect 3 pack broken -o bad
holds err "train/scene_0007.png: there is no label with this stem in train_labels"
check is_missing bad
expect 6 pack broken -o bad --on-error skip
holds out "9 packed + 3 skipped = 12 inputs"
holds out "skipped: train/scene_0003.png: "
holds out "it is cut or damaged"
holds out "skipped: train/scene_0005.png: this is an empty file"
# With more of them than are allowed, no data set is replaced.
cp bad/manifest.json old-manifest.json
expect 6 pack broken -o bad --overwrite --on-error skip=2 --crop 32x32
holds err "bad keeps what it holds: 3 inputs were skipped, --on-error skip=2 allows 2"
check cmp bad/manifest.json old-manifest.json
expect 0 verify bad
expect 0 pack broken -o bad --overwrite --on-error skip=3 --crop 32x32
holds out "shards kept from an earlier run"
check differ bad/manifest.json old-manifest.json

# A colour that is in no class stops the pack and names the worst offenders.
printf '\xef\xbb\xbfname,r,g,b\r\n building , 128 ,0,0.0\r\nroad,128,64,128\r\n\r\n' >few.csv
expect 4 pack scenes -o few --classes few.csv
holds err "12 label files hold"
holds err "colour 128,128,128 (#808080)"
holds err "train_labels/scene_000"
check is_missing few

# What would have no effect is said, and so is a size beyond all limits.
expect 2 pack bmp -o no-effect --eval-crop-mode tile
holds err "--eval-crop-mode tile needs --crop"
expect 2 pack bmp -o no-effect --augment-with rotate
holds err "--augment-with rotate needs --augment"
expect 2 pack bmp -o no-effect --variants 0
holds err "--variants 0 would make no record"
expect 2 pack bmp -o no-effect --resize 100000x100000
holds err "--resize 100000x100000 is 10,000,000,000 pixels, more than --max-pixels"

# WebP likewise; OpenCV leaves the picture as it is stored, 2 high × 3 wide, turned or not.
mkdir -p webp/train/a
printf '%s' UklGRloAAABXRUJQVlA4WAoAAAAIAAAAAgAAAQAAVlA4TBoAAAAvAkAAAC8QoxDzH1YFNW0bsKHOv5wa0f+YXkVYSU\
YaAAAATU0AKgAAAAgAAQESAAMAAAABAAYAAAAAAAA= | base64 -d >webp/train/a/1.webp
expect 0 pack webp -o webp-out
holds out "records of 3 high × 2 wide"
holds out "EXIF orientation applied, 1 image"

# A cut file, of which OpenCV has its own words.
head -c 60 webp/train/a/1.webp >webp/train/a/2.webp
expect 4 pack webp -o webp-out2 --quiet
holds err "train/a/2.webp: "
check test "$(wc -l <err)" -eq 1

mkdir -p bmp/train/a bmp/train/b
for class in a b; do
  python3 -c '
import struct, sys
pixels = bytes(range(2 * 8))  # 2 rows of 2 BGR pixels, padded to 8 bytes
sys.stdout.buffer.write(b"BM" + struct.pack("<IHHI", 54 + len(pixels), 0, 0, 54) +
    struct.pack("<IiiHHIIiiII", 40, 2, 2, 1, 24, 0, len(pixels), 0, 0, 0, 0) + pixels)
' >bmp/train/$class/1.bmp
done
expect 0 pack bmp -o bmp-out
holds out "2 packed + 0 skipped"
expect 0 pack bmp -o bmp-out --overwrite --order sorted --json --quiet
head -c 40 bmp/train/a/1.bmp >bmp/train/a/2.bmp
expect 4 pack bmp -o bmp-out2 --resize 2x2 --quiet
holds err "train/a/2.bmp: damaged BMP file: it ends within its header"

# The palette of a BMP file is read as that of a PNG is; labels of single bits are refused.
cp -r scenes expanded
rm expanded/train_labels/scene_0003_L.png
python3 -c '
import struct, sys
sys.stdout.buffer.write(b"BM" + struct.pack("<IHHI", 62 + 3072, 0, 0, 62) +
    struct.pack("<IiiHHIIiiII", 40, 64, 48, 1, 8, 0, 3072, 0, 0, 2, 0) +
    bytes([0, 0, 0, 0, 9, 9, 9, 0]) + bytes([0, 1] * 1536))
' >expanded/train_labels/scene_0003_L.bmp
expect 2 pack expanded -o expanded-out --quiet
holds err "label train_labels/scene_0003_L.bmp: none of the colours of this palette file"
expect 0 pack expanded -o expanded-index --palette index
holds out "labels read by: palette index (1 file), RGB colour (11 files)"
rm expanded/train_labels/scene_0003_L.bmp
python3 -c 'print("P1 64 48", "0 1 " * 1536, sep="\n")' >expanded/train_labels/scene_0003_L.pbm
expect 4 pack expanded -o expanded-out --quiet
holds err "label train_labels/scene_0003_L.pbm: this is a PNM file of fewer than 8 bits per pixel"

# Shards by hand, and the manifest at the end.
expect 2 pack scenes -o slices --shards 3-1
holds err "write A-B"
expect 2 pack scenes -o slices --shards 1 --finish
holds err "give one"
expect 2 pack scenes -o slices --finish --dry-run
expect 0 pack scenes --dry-run --shard-size 40KiB --block-size 20KiB
holds out "in 4 shards (numbers 0-3)"
expect 0 pack scenes -o slices --shard-size 40KiB --block-size 20KiB --shards 0
holds out "4 of 5 shards of the set are still missing"
expect 0 pack scenes -o slices --shard-size 40KiB --block-size 20KiB --shards 1-4
expect 2 pack scenes -o slices --shard-size 40KiB --block-size 20KiB --order sorted
holds err "order was train shuffled, others sorted, now it is sorted"
expect 0 pack scenes -o slices --shard-size 40KiB --block-size 20KiB --finish
check same_tree slices four

# A locked folder is refused.
mkdir locked
exec 9>locked/.shardmill-lock
flock 9
expect 2 pack scenes -o locked
holds err "another pack is writing to locked"
exec 9>&-

# Output that cannot be written is no success.
for words in --help "pack --help" --version; do
  "$shardmill" $words >/dev/full 2>err
  check test $? -eq 3
  holds err "cannot write to standard output"
done
"$shardmill" pack scenes -o full --quiet >/dev/full 2>err
check test $? -eq 3
holds err "cannot write to standard output"

# Ctrl-C: exit code 130, and nothing partial under a final name. (A background job of this shell
# ignores SIGINT unless job control is on.)
expect 0 sample -o many --count 300 --height 96 --width 128
options=(--shard-size 96KiB --image-codec zstd)
for _ in $(seq 20); do # on a busy machine the pack may be done before the signal comes
  rm -rf cut
  set -m
  "$shardmill" pack many -o cut --jobs 1 "${options[@]}" >out 2>err &
  packer=$!
  set +m
  until compgen -G "cut/train-00000-of-*.shard" >/dev/null || ! kill -0 "$packer"; do
    sleep 0.01
  done
  kill -INT "$packer"
  wait "$packer"
  code=$?
  [ "$code" -eq 0 ] || break
done 2>/dev/null
check test "$code" -eq 130
holds err "interrupted by SIGINT"
holds err "the same command goes on from there"
check is_missing cut/manifest.json
check test "$(find cut -name '*.tmp-*' | wc -l)" -eq 0
expect 0 pack many -o cut "${options[@]}"
holds err "going on with the pack that was stopped"
expect 0 pack many -o whole "${options[@]}"
check same_tree cut whole

[ "$failures" -eq 0 ] || echo "$failures checks failed"
exit $((failures > 0))
