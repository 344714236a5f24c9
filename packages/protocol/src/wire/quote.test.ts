import { expect, test } from "vitest";
import { quoteRequestSchema } from "./quote.ts";

const body = {
	originChain: "1",
	destinationChain: 10,
	inputToken: "0xa",
	outputToken: "0xb",
	amount: "5",
	walletAddress: "0xc",
};

test("a request is parsed into chain ids as numbers and its amount as a bigint", () => {
	expect(quoteRequestSchema.parse(body)).toMatchObject({ originChain: 1, destinationChain: 10, amount: 5n });
});

test("null in an optional field counts as absent", () => {
	const parsed = quoteRequestSchema.parse({ ...body, recipient: null, slippageBps: null });
	expect(parsed.recipient).toBeUndefined();
	expect(parsed.slippageBps).toBeUndefined();
	expect(quoteRequestSchema.parse(body)).toEqual(parsed);
});

test.each(Object.keys(body))("%s is required, and null is refused", (field) => {
	expect(quoteRequestSchema.safeParse({ ...body, [field]: undefined }).success).toBe(false);
	expect(quoteRequestSchema.safeParse({ ...body, [field]: null }).success).toBe(false);
});

test("an unknown field is refused, and the error names it", () => {
	const { error } = quoteRequestSchema.safeParse({ ...body, slippage: 50 });
	expect(error?.issues[0]).toMatchObject({ code: "unrecognized_keys", keys: ["slippage"] });
});

test.each([0, 5001, 1.5, "50", -1])("a slippage of %j is refused", (slippageBps) => {
	expect(quoteRequestSchema.safeParse({ ...body, slippageBps }).success).toBe(false);
});

test("a top-up is named in smallest units or in USD, and not in both", () => {
	expect(quoteRequestSchema.parse({ ...body, topUp: "7" })).toMatchObject({ topUp: 7n });
	expect(quoteRequestSchema.parse({ ...body, topUpUsd: "0.50" })).toMatchObject({ topUpUsd: "0.50" });
	for (const wrong of [{ topUp: "0" }, { topUpUsd: "0.00" }, { topUpUsd: "1e3" }, { topUpUsd: 1 }]) {
		expect(quoteRequestSchema.safeParse({ ...body, ...wrong }).success).toBe(false);
	}
	const both = quoteRequestSchema.safeParse({ ...body, topUp: "7", topUpUsd: "0.50" });
	expect(both.error?.issues[0]).toMatchObject({ path: ["topUpUsd"] });
});

test.each([[], null, "{}", 1])("%j is not a request", (value) => {
	expect(quoteRequestSchema.safeParse(value).success).toBe(false);
});
