import { expect } from "vitest";
import { GeoswapError } from "../src/geoswap-error.ts";

/** Returns the error that a call fails with, which must be a GeoswapError. */
export function errorOf(promise: Promise<unknown>): Promise<GeoswapError> {
	return promise.then(
		() => expect.unreachable("it should fail"),
		(error: unknown) => {
			expect(error).toBeInstanceOf(GeoswapError);
			return error as GeoswapError;
		},
	);
}
