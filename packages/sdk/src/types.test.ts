import { expectTypeOf, test } from "vitest";
import type { Client } from "./create-client.ts";
import { GeoswapError } from "./geoswap-error.ts";
import type { Quote } from "./get-quote.ts";
import type { Swap } from "./get-status.ts";
import { swap } from "./swap.ts";
import type { SwapRequest } from "./swap-request.ts";
import type { SwapStore } from "./swap-store.ts";
import type { EndedSwap } from "./wait-for-swap.ts";

// The compiler checks these. Nothing runs.

test("values of lists that may grow are accepted, and the known ones are suggested", () => {
	expectTypeOf<"opening">().toExtend<Swap["stage"]>();
	expectTypeOf<"a-newer-stage">().toExtend<Swap["stage"]>();
	expectTypeOf<"A_NEWER_REASON">().toExtend<NonNullable<Swap["failure"]>["code"]>();
	expectTypeOf<"a_newer_step">().toExtend<GeoswapError["next"]>();
	expectTypeOf<"a-newer-status">().not.toExtend<Swap["status"]>();
});

test("a settled swap has its transactions, and any other may lack them", () => {
	type Settled = Extract<EndedSwap, { status: "settled" }>;
	expectTypeOf<Settled["deliveryTxHash"]>().toEqualTypeOf<string>();
	expectTypeOf<Settled["originTxHash"]>().toEqualTypeOf<string>();
	type Refunded = Extract<EndedSwap, { status: "refunded" | "failed" }>;
	expectTypeOf<undefined>().toExtend<Refunded["deliveryTxHash"]>();
});

test("amounts are bigint in requests and responses", () => {
	expectTypeOf<SwapRequest["amount"]>().toEqualTypeOf<bigint | undefined>();
	expectTypeOf<SwapRequest["outputAmount"]>().toEqualTypeOf<bigint | undefined>();
	expectTypeOf<Pick<Quote, "output" | "minOutput">>().toEqualTypeOf<{ output: bigint; minOutput: bigint }>();
	expectTypeOf<Swap["funds"]["amount"]>().toEqualTypeOf<bigint>();
	expectTypeOf<Swap["terms"]["minOutput"]>().toEqualTypeOf<bigint>();
	expectTypeOf<NonNullable<Swap["deliveredAmount"]>>().toEqualTypeOf<bigint>();
});

test("the code of an error gives its details their type", () => {
	const read = (error: unknown) => {
		if (!(error instanceof GeoswapError)) return;
		if (error.code === "NEEDS_LARGER_SIZE")
			expectTypeOf(error.details?.minimumAmount).toEqualTypeOf<string | undefined>();
		if (error.code === "NEEDS_DELEGATION")
			expectTypeOf(error.details?.accountNonce).toEqualTypeOf<number | undefined>();
		// @ts-expect-error: this code has no such detail.
		if (error.code === "INTERNAL") error.details?.minimumAmount;
	};
	expectTypeOf(read).toBeFunction();
});

type Plain = Omit<SwapRequest, "id" | "store" | "amount" | "outputAmount" | "maxInput">;

test("an exact output needs a maximum input, and cannot be combined with an exact input", () => {
	const start = (client: Client, request: Plain) => [
		swap(client, { ...request, outputAmount: 1n, maxInput: 2n }),
		// @ts-expect-error: the input has no bound.
		swap(client, { ...request, outputAmount: 1n }),
		// @ts-expect-error: only one side is exact.
		swap(client, { ...request, amount: 1n, outputAmount: 1n, maxInput: 2n }),
	];
	expectTypeOf(start).toBeFunction();
});

test("an id without a store does not compile", () => {
	const start = (client: Client, request: Plain & { amount: bigint }, store: SwapStore) => [
		swap(client, request),
		swap(client, { ...request, store }),
		swap(client, { ...request, id: "invoice-1", store }),
		// @ts-expect-error: an id needs a store.
		swap(client, { ...request, id: "invoice-1" }),
	];
	expectTypeOf(start).toBeFunction();
});
