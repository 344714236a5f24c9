// Loaded before a program that the bench measures, by `--import`: at each SIGUSR2 it collects garbage, and writes what memory
// is in use to the file that its own address names.
import { renameSync, writeFileSync } from "node:fs";
import { setImmediate as turn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collect: () => void = runInNewContext("gc");
const file = new URL(import.meta.url).searchParams.get("file");
if (!file) throw new Error("the file to write to is not named");

process.on("SIGUSR2", () => void tell());

async function tell(): Promise<void> {
	collect();
	// What is outside the heap is given back a turn after its owner was collected.
	await turn();
	collect();
	// Whoever waits for the file must find all of it.
	writeFileSync(`${file}.part`, JSON.stringify(process.memoryUsage()));
	renameSync(`${file}.part`, String(file));
}
