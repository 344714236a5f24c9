import { expect, test } from "vitest";
import * as sdk from "./index.ts";

test("what the package offers changes only on purpose", () => {
	expect(Object.keys(sdk)).toMatchInlineSnapshot(`
		[
		  "buildOp",
		  "buildSolanaTx",
		  "createClient",
		  "GeoswapError",
		  "getChains",
		  "getDelegation",
		  "getQuote",
		  "getStatus",
		  "getTokens",
		  "listSwaps",
		  "signDelegation",
		  "submitOp",
		  "submitSolana",
		  "VerificationError",
		  "verifyAndSign",
		  "verifyAndSignSolana",
		  "verifyOp",
		  "verifySolanaOp",
		  "waitForSwap",
		]
	`);
});
