// Loaded with `--import` before a program that the bench measures. At each SIGUSR2 it collects garbage, and writes the
// memory in use to the file given in its own URL.
import { renameSync, writeFileSync } from "node:fs";
import { setImmediate as turn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collect: () => void = runInNewContext("gc");
const file = new URL(import.meta.url).searchParams.get("file");
if (!file) throw new Error("no file to write to was given");

process.on("SIGUSR2", () => void tell());

async function tell(): Promise<void> {
	collect();
	// Memory outside the heap is freed one turn after its owner was collected.
	await turn();
	collect();
	// The rename makes sure that the reader finds the whole file.
	writeFileSync(`${file}.part`, JSON.stringify(process.memoryUsage()));
	renameSync(`${file}.part`, String(file));
}
