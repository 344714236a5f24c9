import { expect, test } from "vitest";
import { anyOrder } from "../../../../../packages/protocol/vectors/read-vectors.ts";
import type { AuditedSwap } from "../read/read-books.ts";
import { checkWaits } from "./check-waits.ts";

function found(swap: Pick<AuditedSwap, "isEnded" | "dueSeconds">, workingSeconds = 3_600): string[] {
	const audited = { id: "a", order: anyOrder(), ...swap } as unknown as AuditedSwap;
	return checkWaits([audited], { workingSeconds }).map(
		({ invariant, pauses, message }) => `${invariant} ${pauses} ${message}`,
	);
}

test("a swap that has not ended and has no due time, or is overdue, is found", () => {
	expect(found({ isEnded: false, dueSeconds: undefined })).toEqual([
		"I14 false swap a has not ended, and has no time for its next round",
	]);
	expect(found({ isEnded: false, dueSeconds: 61 })).toEqual(["I14 false swap a has been due for 61 s"]);
	expect(found({ isEnded: false, dueSeconds: 60 })).toEqual([]);
	expect(found({ isEnded: false, dueSeconds: -600 })).toEqual([]);
	expect(found({ isEnded: true, dueSeconds: undefined })).toEqual([]);
});

test("time in which no worker ran does not count", () => {
	expect(found({ isEnded: false, dueSeconds: 7_200 }, 60)).toEqual([]);
	expect(found({ isEnded: false, dueSeconds: 7_200 }, 61)).toHaveLength(1);
});
