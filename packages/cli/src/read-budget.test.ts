import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { evmKey, pins, recipient } from "../test/fake-service.ts";
import { makeBudgetFile, usdc, wallet } from "../test/mcp-world.ts";
import { readBudget } from "./read-budget.ts";

const folder = mkdtempSync(join(tmpdir(), "geoswap-budget-file-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const path = join(folder, "budget.json");
const keychain = { get: async () => undefined, set: async () => {} };
const keys = { env: { GEOSWAP_EVM_KEY: evmKey }, keychain };

function read(file: unknown, mode = 0o600) {
	writeFileSync(path, typeof file === "string" ? file : JSON.stringify(file));
	chmodSync(path, mode);
	return readBudget(path, { pins, keys });
}

test("a budget file has amounts in whole tokens, and names from the deployment file", async () => {
	const budget = await read(makeBudgetFile({ recipients: ["self", recipient] }));
	const token = pins.chains[0]?.settlementToken;
	expect(budget).toMatchObject({
		spend: [{ chainId: 31337, token, perSwap: 10_000_000n, perDay: 25_000_000n }],
		recipients: [wallet, recipient],
	});
	const [route] = budget.routes;
	expect(route?.to).toEqual({ chainId: 31338, token: pins.chains[1]?.settlementToken });
	// 0.9 of a token with 6 decimals for 1 of another with 6.
	expect(((route?.worstPrice.output ?? 0n) * 1_000_000n) / (route?.worstPrice.input ?? 1n)).toBe(900_000n);
});

const limit = { asset: usdc.origin, perSwap: "10", perDay: "25" };
const pair = { from: usdc.origin, to: usdc.destination, worstPrice: "0.9" };
test.each<[string, unknown]>([
	["not JSON", "{"],
	["unknown fields", makeBudgetFile({ unlimited: true })],
	["an unknown field of a limit", makeBudgetFile({ spend: [{ ...limit, perHour: "1" }] })],
	["no limit of a day", makeBudgetFile({ spend: [{ asset: usdc.origin, perSwap: "10" }] })],
	["a number that is no text", makeBudgetFile({ spend: [{ ...limit, perSwap: 10 }] })],
	["a negative amount", makeBudgetFile({ spend: [{ ...limit, perSwap: "-1" }] })],
	["too many decimals", makeBudgetFile({ spend: [{ ...limit, perSwap: "0.0000001" }] })],
	["a token twice", makeBudgetFile({ spend: [limit, { ...limit, perDay: "1000" }] })],
	["a route twice", makeBudgetFile({ routes: [pair, { ...pair, worstPrice: "0.1" }] })],
	["a route without a limit", makeBudgetFile({ routes: [{ ...pair, from: usdc.destination }] })],
	["a price of zero", makeBudgetFile({ routes: [{ ...pair, worstPrice: "0" }] })],
	["an unknown token", makeBudgetFile({ routes: [{ ...pair, to: "31338:DOGE" }] })],
	["an unknown chain", makeBudgetFile({ spend: [{ ...limit, asset: "1:USDC" }] })],
	["a recipient that is no address", makeBudgetFile({ recipients: ["everybody"] })],
	["no recipient", makeBudgetFile({ recipients: [] })],
])("a budget file with %s is refused", async (_, file) => {
	await expect(read(file)).rejects.toMatchObject({ code: "INVALID_BUDGET" });
});

test.skipIf(process.platform === "win32")("a budget file that others may write to is refused", async () => {
	for (const mode of [0o620, 0o602, 0o666]) {
		await expect(read(makeBudgetFile(), mode)).rejects.toThrow("chmod go-w");
	}
});
