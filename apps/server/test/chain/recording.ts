import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const file = join(import.meta.dirname, "recording.txt");

/** Returns the terminal recording of `chain add` on three chains. */
export function readRecording(): string {
	return readFileSync(file, "utf8").trimEnd();
}

/** Writes a new recording into the docs. */
export function writeRecording(recording: string): void {
	writeFileSync(file, `${recording}\n`);
}

/** Returns the text without everything that differs from run to run. */
export function withoutVolatileParts(text: string): string {
	return text
		.replace(/https?:\/\/[\w.:-]+/g, "URL")
		.replace(/[\w./-]*\/(?=(geoswap|config|owners)\.json|chains\/)/g, "")
		.replace(/(geoswap|config)\.json/g, "CONFIG")
		.replace(/answers in [\d.]+ ms, a block each [\d.]+ s/g, "answers in N ms, a block each N s")
		.replace(/logs of \d+ blocks/g, "logs of N blocks")
		.replace(/(ok|warn) URL:? the fee model .*/g, "FEE MODEL")
		.replace(/finalized is \d+ s/g, "finalized is N s")
		.replace(/needs [\d.]+/g, "needs N")
		.replace(/has [\d.]+/g, "has N")
		.replace(/ to \d+ /g, " to N ")
		.replace(/swp_\w+/g, "SWAP")
		.replace(/[\da-f]{8}-[\da-f-]{27}/g, "ACCOUNT");
}
