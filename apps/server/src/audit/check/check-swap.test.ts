import { orderId, packDeadlines } from "@geoswap/protocol";
import { expect, test } from "vitest";
import { anyOrder } from "../../../../../packages/protocol/vectors/read-vectors.ts";
import type { OrderHistory } from "../read/order-history.ts";
import type { AuditedSwap } from "../read/read-books.ts";
import { checkSwap } from "./check-swap.ts";

const refundAfter = 1_800_000_000n;
const order = {
	...anyOrder(),
	deadlines: packDeadlines({
		openDeadline: refundAfter - 200n,
		fillDeadline: refundAfter - 100n,
		refundAfter,
	}),
};
const at = { chainId: 1, block: 1, orderId: orderId(order) };
const late = refundAfter + 3_601n;

function found(
	status: AuditedSwap["status"],
	events: Partial<OrderHistory>,
	{
		now = late,
		destination = now,
		booked = now,
		workingSince = 0n,
	}: { now?: bigint; destination?: bigint; booked?: bigint; workingSince?: bigint } = {},
): string[] {
	const nothing = { opened: [], released: [], refunded: [], filled: [], voided: [], claimed: [] };
	const history = { orderId: at.orderId, order, ...nothing, ...events };
	const swap = { id: "a", orderId: at.orderId, order, status, isEnded: false } as unknown as AuditedSwap;
	const finalAt = { origin: now, destination };
	const bookedAt = { origin: booked, destination: now };
	const workingSinceMs = Number(workingSince) * 1_000;
	const times = { finalAt, bookedAt, workingSinceMs, nowMs: Number(now) * 1_000 };
	return checkSwap(swap, { history, ...times }).map(({ invariant }) => invariant);
}

test("a reported outcome that never became final is found once its time is over, and not before", () => {
	const opened = [{ ...at, order }];
	const paid = [{ ...at, paid: true }];
	const filled = [{ ...at, delivered: order.minOutput }];
	// The chain dropped the delivery, and the delivery was not repeated.
	expect(found("settled", { opened, released: paid })).toEqual(["I8"]);
	expect(found("settled", { opened, filled })).toEqual(["I14"]);
	expect(found("settled", { opened, filled, released: paid })).toEqual([]);
	// This is a loss, because there is nothing to release.
	expect(found("settled", { filled })).toEqual([]);
	expect(found("refunded", { opened })).toEqual(["I9"]);
	expect(found("refunded", { opened, refunded: paid })).toEqual([]);

	const early = { now: late - 1n };
	expect(found("settled", { opened }, early)).toEqual([]);
	expect(found("refunded", { opened }, early)).toEqual([]);
	// A chain without finality for hours may still drop blocks.
	expect(found("settled", { opened }, { destination: refundAfter })).toEqual([]);
});

test("a pending swap is late only after the time that the service had to work on it", () => {
	expect(found("pending", {})).toEqual(["I14"]);
	expect(found("pending", {}, { now: late - 1n })).toEqual([]);
	// After an outage the blocks of that time are not processed yet.
	expect(found("pending", {}, { booked: refundAfter })).toEqual([]);
	expect(found("pending", {}, { booked: refundAfter + 1n })).toEqual(["I14"]);
	const back = refundAfter + 50_000n;
	expect(found("pending", {}, { workingSince: back, now: back + 3_600n })).toEqual([]);
	expect(found("pending", {}, { workingSince: back, now: back + 3_601n })).toEqual(["I14"]);
});
