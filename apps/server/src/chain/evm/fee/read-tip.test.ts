import { parseGwei } from "viem";
import { expect, test } from "vitest";
import type { EvmChain } from "../connect-chain.ts";
import { readTipAt } from "./read-tip.ts";

const bounds = { minimum: parseGwei("0.001"), maximum: parseGwei("5") };
const offered = parseGwei("2");

/** Returns a chain whose last ten blocks used these shares of their gas limits, with the same tip in each. */
function chainOf(gasUsedRatio: readonly number[], tip = offered): EvmChain {
	const getFeeHistory = async () => ({ gasUsedRatio, reward: gasUsedRatio.map(() => [tip]) });
	return { client: { getFeeHistory } } as unknown as EvmChain;
}

async function tipOf(chain: EvmChain): Promise<bigint> {
	return (await readTipAt(chain, { bounds, nowUnixSeconds: 100 })).tip;
}

const full = Array<number>(10).fill(0.9);
const quiet = Array<number>(10).fill(0.01);

test("the tip is the one that well-filled blocks accepted, within the bounds", async () => {
	expect(await tipOf(chainOf(full))).toBe(offered);
	expect(await tipOf(chainOf(full, parseGwei("50")))).toBe(bounds.maximum);
	expect(await tipOf(chainOf(full, 0n))).toBe(bounds.minimum);
});

test("blocks with room left need no more than the minimum, regardless of the tips in them", async () => {
	expect(await tipOf(chainOf(quiet))).toBe(bounds.minimum);
	expect(await tipOf(chainOf([...quiet.slice(4), ...full.slice(6)]))).toBe(bounds.minimum);
	expect(await tipOf(chainOf([...quiet.slice(6), ...full.slice(4)]))).toBe(offered);
});

test("a tip is read again after fifteen seconds, and kept if the node has no fee history", async () => {
	const previous = { tip: 7n, tipReadAtUnixSeconds: 90 };
	const silent = { client: { getFeeHistory: () => Promise.reject(new Error("no such method")) } };
	const read = (chain: EvmChain, nowUnixSeconds: number) =>
		readTipAt(chain, { bounds, nowUnixSeconds, previous });
	expect(await read(chainOf(full), 104)).toEqual(previous);
	expect(await read(chainOf(full), 105)).toEqual({ tip: offered, tipReadAtUnixSeconds: 105 });
	expect(await read(silent as unknown as EvmChain, 105)).toEqual({ tip: 7n, tipReadAtUnixSeconds: 105 });
});
