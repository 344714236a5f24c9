import fc from "fast-check";
import { toHex } from "viem";
import { expect, test } from "vitest";
import { authorizationSchema, buildRequestSchema } from "./build.ts";

const address = "0x00000000000000000000000000000000000D1e6A";
const scalar = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n });
const nonce = fc.bigInt({ min: 0n, max: 2n ** 53n - 1n });
/** Returns a number in each form that callers have for it. */
const forms = (value: bigint) => [Number(value), String(value), toHex(value)];

test("all forms in which libraries write an authorization are parsed to the same value, and other fields are ignored", () => {
	fc.assert(
		fc.property(
			nonce,
			nonce,
			fc.constantFrom(0n, 1n),
			scalar,
			scalar,
			fc.nat(2),
			(chain, n, parity, r, s, i) => {
				const body = {
					chainId: forms(chain)[i],
					address,
					nonce: forms(n)[i],
					yParity: forms(parity)[i],
					r: i === 0 ? toHex(r) : i === 1 ? toHex(r).slice(2) : toHex(r, { size: 32 }),
					s: i === 0 ? toHex(s) : i === 1 ? toHex(s).slice(2).toUpperCase() : toHex(s, { size: 32 }),
					v: 27n,
					extra: {},
				};
				expect(authorizationSchema.parse(body)).toEqual({
					chainId: chain,
					address,
					nonce: n,
					yParity: parity,
					r: toHex(r, { size: 32 }),
					s: toHex(s, { size: 32 }),
				});
			},
		),
	);
});

const valid = {
	chainId: 1,
	address,
	nonce: 0,
	yParity: 0,
	r: `0x${"01".repeat(32)}`,
	s: `0x${"02".repeat(32)}`,
};
test.each<[string, Record<string, unknown>]>([
	["yParity", { yParity: 27 }],
	["yParity", { yParity: undefined, v: 27 }],
	["nonce", { nonce: -1 }],
	["nonce", { nonce: 1.5 }],
	["nonce", { nonce: "" }],
	["nonce", { nonce: "01" }],
	["nonce", { nonce: null }],
	["nonce", { nonce: 2 ** 53 }],
	["chainId", { chainId: "one" }],
	["address", { address: "0x12" }],
	["address", { address: address.slice(2) }],
	["r", { r: "0x" }],
	["r", { r: `0x${"01".repeat(33)}` }],
	["s", { s: "zz" }],
	["s", { s: 5 }],
])("an authorization with a bad %s is malformed: %j", (field, changes) => {
	expect(authorizationSchema.safeParse(valid).success).toBe(true);
	const { error } = authorizationSchema.safeParse({ ...valid, ...changes });
	expect(error?.issues.map((issue) => issue.path[0])).toEqual([field]);
});

test("a null authorization counts as absent, and the schema of the build accepts any other value", () => {
	expect(buildRequestSchema.parse({ geoQuoteToken: "q" }).authorization).toBeUndefined();
	expect(buildRequestSchema.parse({ geoQuoteToken: "q", authorization: null }).authorization).toBeUndefined();
	expect(buildRequestSchema.parse({ geoQuoteToken: "q", authorization: "?" }).authorization).toBe("?");
	expect(buildRequestSchema.parse({ geoQuoteToken: "q", other: 1 })).not.toHaveProperty("other");
});
