import { expect, test } from "vitest";
import { runDemo } from "../demo/run-demo.ts";
import { sharedEnvironment } from "../shared-environment.ts";

test("the demo's new wallet, without one wei, has its tokens on the other chain", async () => {
	const { swap, walletBalance, recipientBalance, steps } = await runDemo(sharedEnvironment(), () => {});
	expect(swap).toMatchObject({
		status: "settled",
		originTxHash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
		deliveryTxHash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
	});
	expect(walletBalance).toBe("0");
	expect(recipientBalance).toBe(swap.funds.amount);
	expect(steps.map(({ what }) => what).join("\n")).toContain("100 USDC and 0 wei");
});
