import { expectTypeOf, test } from "vitest";
import type { Amount, Milliseconds, Seconds, UsdCents, Wei } from "./units.ts";

test("a value of one unit is refused where another unit is required, and a plain number is accepted", () => {
	expectTypeOf<Seconds>().not.toExtend<Milliseconds>();
	expectTypeOf<Milliseconds>().not.toExtend<Seconds>();
	expectTypeOf<UsdCents>().not.toExtend<Amount>();
	expectTypeOf<Wei>().not.toExtend<UsdCents>();
	expectTypeOf<Amount>().not.toExtend<Wei>();
	expectTypeOf<Wei>().toExtend<Amount>();
	expectTypeOf<number>().toExtend<Seconds>();
	expectTypeOf<bigint>().toExtend<UsdCents>();
	const waited: Seconds = 2;
	const waitedMs: Milliseconds = waited * 1_000;
	expectTypeOf(waitedMs).toExtend<number>();
});
