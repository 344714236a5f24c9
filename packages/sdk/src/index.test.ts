import { expect, test } from "vitest";
import * as agentkit from "./agentkit.ts";
import * as ai from "./ai.ts";
import * as budget from "./budget.ts";
import * as fileStore from "./file-store.ts";
import * as sdk from "./index.ts";
import * as receipt from "./receipt.ts";
import * as share from "./share.ts";
import * as solana from "./solana.ts";

test("the exports of the package match the recorded lists", () => {
	expect(Object.keys(sdk)).toMatchInlineSnapshot(`
		[
		  "buildOp",
		  "buildSolanaTx",
		  "createClient",
		  "createMandate",
		  "evmSigner",
		  "GeoswapError",
		  "getChains",
		  "getDelegation",
		  "getQuote",
		  "getStatus",
		  "getTokens",
		  "listSwaps",
		  "removeDelegation",
		  "signDelegation",
		  "stableFloor",
		  "submitOp",
		  "submitSolana",
		  "swap",
		  "getSwapState",
		  "memoryStore",
		  "VerificationError",
		  "verifyAndSign",
		  "verifyOp",
		  "waitForSwap",
		]
	`);
	expect(Object.keys(solana)).toMatchInlineSnapshot(`
		[
		  "solanaSigner",
		  "verifyAndSignSolana",
		  "verifySolanaOp",
		]
	`);
	expect(Object.keys(ai)).toMatchInlineSnapshot(`
		[
		  "swapTool",
		  "geoswapTools",
		]
	`);
	expect(Object.keys(agentkit)).toMatchInlineSnapshot(`
		[
		  "geoswapActions",
		]
	`);
	expect(Object.keys(budget)).toMatchInlineSnapshot(`
		[
		  "budgetLimits",
		  "openLedger",
		  "worstOutput",
		  "swapWithinBudget",
		]
	`);
	expect(Object.keys(share)).toMatchInlineSnapshot(`
		[
		  "shareSwap",
		  "revokeShares",
		]
	`);
	expect(Object.keys(receipt)).toMatchInlineSnapshot(`
		[
		  "getReceipt",
		  "ReceiptError",
		  "RpcError",
		  "verifyReceipt",
		]
	`);
	expect(Object.keys(fileStore)).toMatchInlineSnapshot(`
		[
		  "fileStore",
		]
	`);
});
