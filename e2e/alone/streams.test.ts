import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";

/** In a full run, the default limit of a process. Each stream is an open file on both sides. */
const streamCount = process.env.GEOSWAP_FULL ? 10_000 : 1_000;
/** docs/events.md states the measured value. With few streams, what the process needs in any case weighs more. */
const maxBytesPerStream = process.env.GEOSWAP_FULL ? 40_000 : 80_000;

type Figures = { streams: number; residentMib: number; residentBytesPerStream: number };

test(`a process keeps ${streamCount} streams of events open, in at most ${maxBytesPerStream} bytes each`, async () => {
	const bench = join(import.meta.dirname, "../../apps/server/bench/event-streams.ts");
	const args = ["--expose-gc", bench, "--streams", String(streamCount), "--json"];
	const { stdout } = await promisify(execFile)(process.execPath, args);
	const figures: Figures = JSON.parse(stdout);
	console.log(figures);
	expect(figures.streams).toBe(streamCount);
	expect(figures.residentBytesPerStream).toBeLessThan(maxBytesPerStream);
});
