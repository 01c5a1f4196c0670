#!/bin/bash -eu
# Makes one program of each fuzz target in $OUT, with its seeds and the dictionary. They are copies of the one program
# that has them all, which runs the target that it is named after.
cd "$SRC/bankrail"
cargo fuzz build -O --debug-assertions targets

host=$(rustc -vV | sed -n 's/^host: //p')
program=${CARGO_TARGET_DIR:-fuzz/target}/$host/release/targets
# One target needs the schema, which is not in this repository.
names=$(FUZZ_TARGET=list "$program" | grep -v libxml2)
for name in $names; do
    cp "$program" "$OUT/$name"
    cp fuzz/dictionary.txt "$OUT/$name.dict"
    if [ -d "fuzz/seeds/$name" ]; then
        zip -qjr "$OUT/${name}_seed_corpus.zip" "fuzz/seeds/$name"
    fi
done
