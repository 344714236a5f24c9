import { expect, test } from "vitest";
import { runDemo } from "../demo/run-demo.ts";
import { runSolanaDemo } from "../demo/run-solana-demo.ts";
import { sharedEnvironment } from "../shared-environment.ts";

test("the demo swaps the tokens of a new wallet without one wei to the other chain", async () => {
	const { swap, walletBalance, recipientBalance, steps } = await runDemo(sharedEnvironment(), () => {});
	expect(swap).toMatchObject({
		status: "settled",
		originTxHash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
		deliveryTxHash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
	});
	expect(walletBalance).toBe(0n);
	expect(recipientBalance).toBe(swap.funds.amount);
	expect(steps.map(({ what }) => what).join("\n")).toContain("100 USDC and 0 wei");
});

test("the Solana demo swaps there and back with wallets that have no wei and no lamport", async () => {
	const { there, back, steps } = await runSolanaDemo(sharedEnvironment(), () => {});
	const onSolana = expect.stringMatching(/^[1-9A-HJ-NP-Za-km-z]{64,88}$/);
	const onEvm = expect.stringMatching(/^0x[0-9a-f]{64}$/);
	expect(there).toMatchObject({ status: "settled", originTxHash: onEvm, deliveryTxHash: onSolana });
	expect(back).toMatchObject({ status: "settled", originTxHash: onSolana, deliveryTxHash: onEvm });
	expect(steps.map(({ what }) => what).join("\n")).toContain("0 lamports");
});
