import { expect, test } from "vitest";
import * as fileStore from "./file-store.ts";
import * as sdk from "./index.ts";
import * as solana from "./solana.ts";

test("the exports of the package match the recorded lists", () => {
	expect(Object.keys(sdk)).toMatchInlineSnapshot(`
		[
		  "buildOp",
		  "buildSolanaTx",
		  "createClient",
		  "evmSigner",
		  "GeoswapError",
		  "getChains",
		  "getDelegation",
		  "getQuote",
		  "getStatus",
		  "getTokens",
		  "listSwaps",
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
	expect(Object.keys(fileStore)).toMatchInlineSnapshot(`
		[
		  "fileStore",
		]
	`);
});
