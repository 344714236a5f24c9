import { closeSync, createReadStream, openSync, writeSync } from "node:fs";
import { createInterface } from "node:readline";
import type { Amount, Milliseconds, QuoteRequest } from "@geoswap/protocol";
import type { Hex } from "viem";
import { ConfigError } from "../../config/config-error.ts";
import type { PriceNews } from "../../desk/price/price-news.ts";
import type { Delivery } from "../../swap/facts/swap-record.ts";
import type { Entry } from "./paper-ledger.ts";
import type { ShadowReport } from "./shadow-report.ts";
import type { FillSimulation } from "./simulate-fill.ts";

/** An amount of a token on a chain. */
export type Holding = { chainId: number; token: Hex; amount: Amount };

/** The assumptions of a day. They are part of its journal, since its result depends on them. */
export type ShadowTerms = {
	/** How long after its quote each swap is submitted. */
	acceptMs: Milliseconds;
	/** How often sold inputs and moved inventory bring the vaults back to their start. */
	replenishEveryMs: Milliseconds;
	/** Cost of moving inventory between chains, and of buying inventory that no pool sells. */
	replenishBps: number;
};

/** An event of one swap. */
type SwapLine =
	| {
			kind: "quoted";
			swap: number;
			input: Holding;
			output: Holding;
			minOutput: Amount;
			delivery: Delivery;
			feeMillibps: number;
	  }
	| { kind: "refused"; swap: number; at: "quote" | "submit"; reason: string }
	| { kind: "submitted"; swap: number; delivery: Delivery }
	/** Whether the fill that follows would have succeeded on the chain. If not, a refund follows instead. */
	| ({ kind: "simulated"; swap: number } & FillSimulation)
	| { kind: "filled"; swap: number; delivery: Delivery }
	| { kind: "released"; swap: number }
	| { kind: "refunded"; swap: number; reason: string };

/** One line of a journal. A number in `atMs` is never below that of an earlier line. */
export type JournalLine = { atMs: Milliseconds } & (
	| {
			kind: "start";
			version: 1;
			/** A sentence that names the origin of the prices and the requests. */
			source: string;
			seed: string;
			terms: ShadowTerms;
			inventory: Holding[];
	  }
	| PriceNews
	| { kind: "request"; swap: number; request: QuoteRequest }
	| SwapLine
	| ({ kind: "entry" } & Entry)
	| { kind: "end"; report: ShadowReport }
);

/** A line without its time, which the day adds. */
export type UntimedLine<Line = JournalLine> = Line extends JournalLine ? Omit<Line, "atMs"> : never;

const bigintText = /^-?\d+n$/;

/** Returns a line of JSON. Amounts are texts that end in n, and maps are objects with a list of entries. */
function formatJournalLine(line: JournalLine): string {
	return JSON.stringify(line, (_, value: unknown) => {
		if (typeof value === "bigint") return `${value}n`;
		return value instanceof Map ? { map: [...value] } : value;
	});
}

function parseJournalLine(text: string): JournalLine {
	return JSON.parse(text, (_, value: unknown) => {
		if (typeof value === "string" && bigintText.test(value)) return BigInt(value.slice(0, -1));
		return isMap(value) ? new Map(value.map) : value;
	}) as JournalLine;
}

function isMap(value: unknown): value is { map: [unknown, unknown][] } {
	return typeof value === "object" && value !== null && "map" in value && Array.isArray(value.map);
}

/** Creates a journal's file. Throws if it exists, since a day is never overwritten. */
export function createJournalFile(path: string): { write: (line: JournalLine) => void; close: () => void } {
	let file: number;
	try {
		file = openSync(path, "wx");
	} catch (error) {
		const isThere = (error as NodeJS.ErrnoException).code === "EEXIST";
		throw new ConfigError(path, isThere ? "exists already; name another journal" : (error as Error).message);
	}
	return {
		write: (line) => {
			writeSync(file, `${formatJournalLine(line)}\n`);
		},
		close: () => closeSync(file),
	};
}

/** Reads a journal. Omits a last line that a crash cut off. Throws with the number of an invalid line. */
export async function readJournal(path: string): Promise<JournalLine[]> {
	const lines: JournalLine[] = [];
	const input = createReadStream(path, "utf8");
	let broken: number | undefined;
	let number = 0;
	try {
		for await (const text of createInterface({ input })) {
			number += 1;
			if (broken !== undefined) throw new ConfigError(path, `line ${broken} is not a line of a journal`);
			try {
				lines.push(parseJournalLine(text));
			} catch {
				broken = number;
			}
		}
	} catch (error) {
		if (error instanceof ConfigError) throw error;
		throw new ConfigError(path, (error as Error).message);
	}
	if (lines[0]?.kind !== "start") throw new ConfigError(path, "is not the journal of a shadow day");
	return lines;
}
