import { getBase64Encoder } from "@solana/kit";
import { bytesToHex, type Hex } from "viem";
import type { SolanaAddress } from "../solana-address.ts";

/** A log of the program about an order. */
export type ProgramEvent =
	| { name: "opened" | "released" | "refunded" | "voided"; orderId: Hex }
	| { name: "filled"; orderId: Hex; amount: bigint; topUp: bigint };

const starts = /^Program ([1-9A-HJ-NP-Za-km-z]{32,44}) invoke \[\d+\]$/;
const ends = /^Program [1-9A-HJ-NP-Za-km-z]{32,44} (success$|failed: )/;
const holdsData = /^Program data: (.*)$/;

/**
 * Returns the program's events in a transaction's logs. Data that another program logged does not count. An event shows
 * where to look. A missing event proves nothing, because a node cuts long logs, and a transaction's sender can make
 * them long.
 */
export function readProgramEvents(logs: readonly string[], program: SolanaAddress): ProgramEvent[] {
	/** The programs that run, the innermost last. */
	const running: string[] = [];
	return logs.flatMap((line): ProgramEvent[] => {
		const started = starts.exec(line)?.[1];
		if (started) running.push(started);
		else if (ends.test(line)) running.pop();
		const fields = holdsData.exec(line)?.[1];
		if (fields === undefined || running.at(-1) !== program) return [];
		const event = eventOf(fields.split(" ").map((field) => new Uint8Array(getBase64Encoder().encode(field))));
		return event ? [event] : [];
	});
}

const decisions = new Map([
	[2, "released"],
	[3, "refunded"],
] as const);

/** Returns the event with these fields; undefined if this version of the client does not support it. */
function eventOf([first = new Uint8Array(), ...fields]: Uint8Array[]): ProgramEvent | undefined {
	const name = new TextDecoder().decode(first);
	const [a = new Uint8Array(), b = new Uint8Array(), c = new Uint8Array()] = fields;
	const sizes = fields.map(({ length }) => length).join(" ");
	if ((name === "opened" || name === "voided") && sizes === "32") return { name, orderId: bytesToHex(a) };
	if (name === "filled" && sizes === "32 8 8") {
		return { name, orderId: bytesToHex(a), amount: numberOf(b), topUp: numberOf(c) };
	}
	const decision = name === "decided" && sizes === "1 32" && decisions.get(a[0] as 2 | 3);
	return decision ? { name: decision, orderId: bytesToHex(b) } : undefined;
}

function numberOf(bytes: Uint8Array): bigint {
	return BigInt(bytesToHex(bytes.toReversed()));
}
