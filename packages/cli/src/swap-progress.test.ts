import { expect, test } from "vitest";
import { makeStatus, pending } from "../test/fake-service.ts";
import { createProgress } from "./swap-progress.ts";

test("a transaction is reported as what it did only after the stage that waits for it, and each is reported once", () => {
	const lines: unknown[] = [];
	const { sayStatus } = createProgress(
		{ isJson: false, say: (line) => lines.push((line as string[])[1]), result: async () => {} },
		() => 0,
	);
	const { originTxHash, deliveryTxHash, ...early } = pending;
	sayStatus({ ...early, stage: "opening" });
	sayStatus({ ...early, stage: "opening", originTxHash: "0xa1" });
	sayStatus({ ...early, stage: "deposited", originTxHash: "0xa1" });
	sayStatus({ ...early, stage: "delivering", originTxHash: "0xa1", deliveryTxHash: "0xa2" });
	sayStatus({ ...makeStatus(), originTxHash: "0xa1", deliveryTxHash: "0xa2" });
	expect(lines).toEqual([
		"opening: the input is not in escrow yet",
		"in transaction 0xa1",
		"deposited: the input is in escrow",
		"delivering: the output is on its way",
		"in transaction 0xa2",
		"settled",
	]);
	lines.length = 0;
	const late = createProgress(
		{ isJson: false, say: (line) => lines.push((line as string[])[1]), result: async () => {} },
		() => 0,
	);
	late.sayStatus({ ...early, stage: "delivering", originTxHash: "0xa1" });
	late.sayStatus({ ...makeStatus(), originTxHash: "0xa1", deliveryTxHash: "0xa2" });
	expect(lines).toEqual([
		"input taken by 0xa1",
		"delivering: the output is on its way",
		"output delivered by 0xa2",
		"settled",
	]);
});
