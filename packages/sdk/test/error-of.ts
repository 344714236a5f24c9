import { expect } from "vitest";
import { GeoswapError } from "../src/geoswap-error.ts";

/** What a call fails with, which is one of ours. */
export function errorOf(promise: Promise<unknown>): Promise<GeoswapError> {
	return promise.then(
		() => expect.unreachable("it should fail"),
		(error: unknown) => {
			expect(error).toBeInstanceOf(GeoswapError);
			return error as GeoswapError;
		},
	);
}
