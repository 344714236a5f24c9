import { expect, test } from "vitest";
import * as z from "zod";
import { makeBudget } from "../test/make-budget.ts";
import { startModelService } from "../test/model-service.ts";
import { account, makeIntent, makePins } from "../test/op-fixture.ts";
import { geoswapActions } from "./agentkit.ts";
import { openLedger } from "./budget-ledger.ts";
import { memoryStore } from "./swap-store.ts";

// The actions with AgentKit itself are tested in ../vendors.

test("a quote is JSON, and the id in the result of a swap is the model's own, so that a model can repeat the call with it", async ({
	onTestFinished,
}) => {
	const service = await startModelService();
	onTestFinished(() => service.close());
	service.knobs.settleMs = 0;
	const actions = geoswapActions({
		z,
		client: service.client,
		ledger: openLedger({ budget: makeBudget(), store: memoryStore() }),
		store: memoryStore(),
		pins: makePins(),
	}).getActions({ getAddress: () => account.address, toSigner: () => account });
	const quoteAction = actions.find(({ name }) => name === "geoswap_quote");
	const swapAction = actions.find(({ name }) => name === "geoswap_swap");
	const { originChain, destinationChain, inputToken, outputToken, recipient = "" } = makeIntent();
	const chains = { originChain: Number(originChain), destinationChain: Number(destinationChain) };
	const amounts = { amount: "10000000", minOutput: "9900000" };
	const input = { ...chains, ...amounts, inputToken, outputToken, recipient, id: "rent" };
	const { minOutput: _, id: __, ...asked } = input;
	expect(JSON.parse((await quoteAction?.invoke(asked)) ?? "")).toMatchObject({
		output: "9980000",
		minOutput: "9930100",
		minOutputShown: "9.9301 USDC",
	});
	expect(actions.map(({ name }) => name)).toEqual([
		"geoswap_swap",
		"geoswap_quote",
		"geoswap_status",
		"geoswap_tokens",
		"geoswap_balances",
	]);
	const wrong = await quoteAction?.invoke({ ...asked, budget: "all" });
	expect(JSON.parse(wrong ?? "")).toEqual({ code: "INVALID_REQUEST" });
	const first = JSON.parse((await swapAction?.invoke(input)) ?? "");
	expect(first).toMatchObject({ id: "rent", swapId: expect.stringMatching(/^swp_/) });
	const again = JSON.parse((await swapAction?.invoke({ ...input, id: first.id })) ?? "");
	expect(again).toMatchObject({ id: "rent", swapId: first.swapId });
	expect(service.openedBy(account.address)).toHaveLength(1);
});
