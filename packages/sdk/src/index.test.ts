import { expect, test } from "vitest";
import * as sdk from "./index.ts";

test("what the package offers changes only on purpose", () => {
	expect(Object.keys(sdk)).toMatchInlineSnapshot(`
		[
		  "buildOp",
		  "createClient",
		  "GeoswapError",
		  "getDelegation",
		  "getQuote",
		  "getStatus",
		  "signDelegation",
		  "submitOp",
		  "VerificationError",
		  "verifyAndSign",
		  "verifyOp",
		  "waitForSwap",
		]
	`);
});
