import { expect, test } from "vitest";
import { statusQuerySchema } from "./status.ts";

test("wait is an optional whole number of seconds from 0 to 15", () => {
	expect(statusQuerySchema.parse({})).toEqual({});
	for (let seconds = 0; seconds <= 15; seconds++) {
		expect(statusQuerySchema.parse({ wait: String(seconds) })).toEqual({ wait: seconds });
	}
	for (const wait of ["16", "-1", "1.5", "", "01", "1\n", "x", ["1", "2"]]) {
		expect(statusQuerySchema.safeParse({ wait }).success, String(wait)).toBe(false);
	}
});
