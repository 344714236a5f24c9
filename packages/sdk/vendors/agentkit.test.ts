import { createRequire } from "node:module";
import { createWalletClient, http } from "viem";
import { mainnet } from "viem/chains";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type AgentkitOptions, geoswapActions } from "../src/agentkit.ts";
import { openLedger } from "../src/budget-ledger.ts";
import { memoryStore } from "../src/swap-store.ts";
import { makeBudget } from "../test/make-budget.ts";
import { type ModelService, startModelService } from "../test/model-service.ts";
import { account, makeIntent, makePins } from "../test/op-fixture.ts";

// AgentKit itself, with its viem provider and its own zod. Only its statistics are answered, and no node is called.

process.env.DISABLE_CDP_USAGE_TRACKING = "true";
process.env.DISABLE_CDP_ERROR_REPORTING = "true";
const require = createRequire(import.meta.url);
const { AgentKit, ViemWalletProvider, walletActionProvider } = require("@coinbase/agentkit");
const { z } = createRequire(require.resolve("@coinbase/agentkit"))("zod");

let service: ModelService;
const realFetch = globalThis.fetch;
beforeEach(async () => {
	service = await startModelService();
	Object.assign(service.knobs, { settleMs: 0, isDelegated: false });
	vi.stubGlobal("fetch", async (url: string | URL | Request, init?: RequestInit) => {
		const { hostname } = new URL(url instanceof Request ? url.url : url);
		if (hostname === "127.0.0.1") return realFetch(url, init);
		if (hostname === "cca-lite.coinbase.com") return Response.json({});
		throw new TypeError(`${hostname} is not to be called`);
	});
});
afterEach(async () => {
	vi.unstubAllGlobals();
	await service.close();
});

const { originChain, destinationChain, inputToken, outputToken, recipient = "" } = makeIntent();
const asked = {
	originChain: Number(originChain),
	destinationChain: Number(destinationChain),
	inputToken,
	outputToken,
	amount: "10000000",
	recipient,
};
const input = { ...asked, minOutput: "9900000", id: "rent-for-june" };
const opened = () => service.openedBy(account.address).length;

type Action = { name: string; schema: { safeParse(value: unknown): { success: boolean } }; invoke: Invoke };
type Invoke = (given: unknown) => Promise<string>;

/** Returns the actions by name, as AgentKit gives them to a framework. */
async function actions(changes: Partial<AgentkitOptions<typeof z>> = {}) {
	const transport = http("http://127.0.0.1:1");
	const walletProvider = new ViemWalletProvider(createWalletClient({ account, chain: mainnet, transport }));
	const provider = geoswapActions({
		z,
		client: service.client,
		ledger: openLedger({ budget: makeBudget(), store: memoryStore() }),
		store: memoryStore(),
		pins: makePins(),
		...changes,
	});
	const agentkit = await AgentKit.from({
		walletProvider,
		actionProviders: [walletActionProvider(), provider],
	});
	const all = agentkit.getActions() as Action[];
	const invoke = async (name: string, given: unknown) => {
		const action = all.find((one) => one.name === name);
		if (!action) throw new Error(`there is no ${name}`);
		return JSON.parse(await action.invoke(given));
	};
	return { all, invoke };
}

test("AgentKit offers the actions besides its default ones, and its wallet swaps and follows the swap", async () => {
	const { all, invoke } = await actions();
	expect(all.map(({ name }) => name)).toEqual(
		expect.arrayContaining(
			["swap", "quote", "status", "tokens", "balances"].map((name) => `geoswap_${name}`),
		),
	);
	expect(all.length).toBeGreaterThan(3);
	expect(await invoke("geoswap_tokens", {})).toMatchObject({
		tokens: expect.arrayContaining([
			expect.objectContaining({ token: inputToken, symbol: "USDC", live: true }),
		]),
	});
	expect(await invoke("geoswap_balances", { chainId: asked.originChain })).toMatchObject({
		wallet: account.address,
		balances: [{ token: inputToken, amount: "1000000000", amountShown: "1000 USDC" }],
	});
	expect(await invoke("geoswap_quote", { ...asked, topUpUsd: "0.50" })).toMatchObject({
		output: expect.any(String),
		minOutput: expect.any(String),
		topUp: String(service.knobs.topUp),
	});
	const swapped = await invoke("geoswap_swap", input);
	expect(swapped).toMatchObject({ status: expect.stringMatching(/submitted|settled/) });
	await expect
		.poll(() => invoke("geoswap_status", { swapId: swapped.swapId }))
		.toMatchObject({ status: "settled" });
	expect(opened()).toBe(1);
});

test("calls with one id are one swap, and the budget covers all ids together", async () => {
	const { invoke } = await actions();
	await invoke("geoswap_swap", input);
	await expect.poll(() => invoke("geoswap_swap", input)).toMatchObject({ status: "settled" });
	expect(opened()).toBe(1);
	await invoke("geoswap_swap", { ...input, id: "two" });
	expect(await invoke("geoswap_swap", { ...input, id: "three" })).toMatchObject({
		status: "not_swapped",
		code: "BUDGET_REFUSED",
	});
	expect(opened()).toBe(2);
});

test("a refusal before the signature leaves the wallet untouched, and is reported without its message", async () => {
	const seen: unknown[] = [];
	const beforeSign = (terms: unknown) => {
		seen.push(terms);
		throw new Error("the user said no");
	};
	const { invoke } = await actions({ beforeSign });
	const answer = await invoke("geoswap_swap", input);
	expect(answer).toMatchObject({ status: "not_swapped" });
	expect(JSON.stringify(answer)).not.toContain("the user said no");
	expect([seen[0], opened()]).toEqual([input, 0]);
});

test.each<[string, unknown]>([
	["a fraction", { ...input, amount: "1.5" }],
	["a number", { ...input, amount: 10 }],
	["no minimum", { ...asked, id: "x" }],
	["no id", { ...asked, minOutput: "1" }],
	["an unknown field", { ...input, budget: "all" }],
	["nothing", null],
])("incomplete or inexact arguments never reach the wallet: %s", async (_, given) => {
	const { all, invoke } = await actions();
	expect(all.find(({ name }) => name === "geoswap_swap")?.schema.safeParse(given).success).toBe(false);
	expect(await invoke("geoswap_swap", given)).toEqual({ code: "INVALID_REQUEST" });
	expect(opened()).toBe(0);
});
