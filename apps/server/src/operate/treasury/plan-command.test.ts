import { expect, test } from "vitest";
import type { StoredPlan } from "../../treasury/stored-plan.ts";
import { describePlan, planProblem } from "./plan-command.ts";

const at = new Date("2026-11-19T10:05:00Z");
const nowMs = at.getTime() + 130_000;
const usdc = { token: "0xaa", symbol: "USDC", decimals: 6, maxHeld: null } as const;
const plan: StoredPlan = {
	moves: [
		{
			moveId: "0x01",
			kind: "bridge",
			chainId: 8453,
			token: "0xaa",
			toChainId: 42161,
			toToken: "0xab",
			address: "0xb1",
			amount: "4500000000",
			costUsd: "0.12",
			reason:
				"Arbitrum One needs 5,000 USDC and has 500 USDC, while Base can spare 15,000 USDC: 4,500 USDC by CCTP earns about 5.62 USD and costs 0.12 USD.",
		},
	],
	reasons: ["Solana stays short of 2,000 USDC: no route leads to it."],
	chains: [
		{
			chainId: 8453,
			name: "Base",
			status: "open",
			tokens: [
				{
					...usdc,
					held: "20000000000",
					free: "20000000000",
					arriving: "0",
					needed: "5000000000",
					target: "20000000000",
					moveCostBps: 1,
				},
				{
					token: "0x00",
					symbol: "ETH",
					decimals: 18,
					held: "1250000000000000000",
					free: "1250000000000000000",
					arriving: "0",
					needed: null,
					target: null,
					moveCostBps: null,
					maxHeld: "1000000000000000000",
				},
			],
		},
		{
			chainId: 42161,
			name: "Arbitrum One",
			status: "paused",
			tokens: [
				{
					...usdc,
					held: "700000000",
					free: "500000000",
					arriving: "1000000000",
					needed: "5000000000",
					target: "20000000000",
					moveCostBps: null,
				},
			],
		},
	],
};

/** As docs/treasury.md shows it. */
const printed = `Plan of 2026-11-19T10:05:00.000Z, 2 min old. Nothing is moved by it.

It would move:
  1. bridge: Arbitrum One needs 5,000 USDC and has 500 USDC, while Base can spare 15,000 USDC: 4,500 USDC by CCTP earns about 5.62 USD and costs 0.12 USD.

What it leaves, and why:
  Solana stays short of 2,000 USDC: no route leads to it.

Base (8453)
  USDC: held 20,000, free 20,000, arriving 0, needed 5,000, more costs 1 bps
  ETH: held 1.25, free 1.25, kept up to 1

Arbitrum One (42161), paused
  USDC: held 700, free 500, arriving 1,000, needed 5,000`;

test("a plan is printed with its age, each move as a sentence, what it leaves, and each chain", () => {
	const now = { mode: "plan", isPaused: false, nowMs } as const;
	expect(describePlan({ at, plan }, now).join("\n")).toBe(printed);
	expect(describePlan({ at, plan: { ...plan, moves: [], reasons: [] } }, now)[2]).toBe(
		"It would move nothing.",
	);
});

test("a missing or old plan is a problem that names what to check", () => {
	expect(planProblem({ at }, { mode: "plan", nowMs })).toBeUndefined();
	expect(planProblem({ at }, { mode: "plan", nowMs: at.getTime() + 900_001 })).toMatch(
		/^the newest plan is 15 min old\. .*check that one runs/,
	);
	expect(planProblem(undefined, { mode: "plan", nowMs })).toMatch(/^there is no plan yet\. /);
	expect(planProblem({ at }, { mode: "off", nowMs })).toMatch(/^treasury\.mode is off/);
});

test("a plan says that its moves are queued only if the service acts and is not paused", () => {
	const lines = (mode: "plan" | "act", isPaused: boolean) =>
		describePlan({ at, plan }, { mode, isPaused, nowMs }).filter((_, i) => i === 0 || i === 2);
	const would = [expect.stringMatching(/Nothing is moved by it\.$/), "It would move:"];
	expect(lines("plan", false)).toEqual(would);
	expect(lines("act", true)).toEqual(would);
	expect(lines("act", false)).toEqual([expect.stringMatching(/Its moves are queued\.$/), "It moves:"]);
});
