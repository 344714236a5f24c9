import fc from "fast-check";

const json = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
const jwe = (header: unknown, ...parts: string[]) => [json(header), ...parts].join(".");

/** Text that breaks code which puts it into a query, a script, a log or a page. */
export const injections = [
	"' OR '1'='1' --",
	"'; drop table swaps; --",
	"1) union select secret from api_keys --",
	"$$;select pg_sleep(10)$$",
	"\\'; select 1; --",
	'{"$gt":""}',
	"{{7*7}}$\u007b7*7}<%= 7*7 %>#{7*7}",
	'"]) redis.call("FLUSHALL") --',
	"\r\n*1\r\n$8\r\nFLUSHALL\r\n",
	'\r\n{"level":60,"msg":"forged line"}\r\n',
	"\r\nset-cookie: a=b\r\n\r\n<script>alert(1)</script>",
	"<script>alert(1)</script>",
	"$(sleep 10)`sleep 10`|sleep 10;",
	"../../../../etc/passwd",
	"\u0000",
	"a\u0000b",
	"\u0007\u001b[2J\u001b[31m",
	"\ud800",
	"\udfff\ud800",
	"\u202e\u200b\ufeff",
	"é\u0301\u{1f600}\u{e0001}",
	"__proto__",
	"constructor",
	"toString",
	"hasOwnProperty",
	"NaN",
	"Infinity",
	"undefined",
	"%s%n%x%d%o%j",
	"a".repeat(50).concat("!"),
	"0".repeat(5_000),
	"9".repeat(5_000),
	`0x${"f".repeat(5_000)}`,
	"1".repeat(44),
	"z".repeat(2_000),
];

/** Strings that resemble a sealed token, with odd headers. */
const tokens = [
	"x".repeat(8 * 1024),
	"x".repeat(8 * 1024 + 1),
	".".repeat(8 * 1024 + 1),
	"....",
	"a.b.c.d.e",
	"",
	jwe({ alg: "none" }, "", "", "", ""),
	jwe({ alg: "none", typ: "JWT" }, json({ sub: "admin" }), ""),
	jwe({ alg: "dir", enc: "A256GCM" }, "", json(1), json(2), json(3)),
	jwe({ alg: "dir", enc: "A256GCM", zip: "DEF" }, "", "AAAAAAAAAAAAAAAA", "AAAA", "AAAAAAAAAAAAAAAAAAAAAA"),
	jwe({ alg: "dir", enc: "A256GCM", kid: "../../dev/null" }, "", "AAAAAAAAAAAAAAAA", "AA", "AAAA"),
	jwe({ alg: "dir", enc: "A256GCM", kid: { toString: 1 } }, "", "AAAAAAAAAAAAAAAA", "AA", "AAAA"),
	jwe({ alg: "dir", enc: "A256GCM", crit: ["x"], x: 1 }, "", "AAAAAAAAAAAAAAAA", "AA", "AAAA"),
	jwe({ alg: "PBES2-HS512+A256KW", enc: "A256GCM", p2c: 2 ** 31, p2s: "AAAA" }, "AAAA", "AAAA", "AA", "AAAA"),
	jwe(
		{ alg: "ECDH-ES", enc: "A256GCM", epk: { kty: "EC", crv: "P-256", x: "AA", y: "AA" } },
		"",
		"A",
		"A",
		"A",
	),
	jwe({ alg: "RSA-OAEP", enc: "A256GCM", jku: "http://127.0.0.1:1/keys" }, "AAAA", "AAAA", "AA", "AAAA"),
	jwe([], "", "", "", ""),
	jwe(null, "", "", "", ""),
	jwe({ __proto__: null, alg: ["dir"], enc: {} }, "", "AAAA", "AA", "AAAA"),
];

/** Malicious text. */
export const hostileText: fc.Arbitrary<string> = fc.oneof(
	fc.constantFrom(...injections),
	fc.constantFrom(...tokens),
	fc.string({ unit: "binary", maxLength: 50 }),
);

/** Hostile values for fields that expect a string or a number. */
export const hostileValue: fc.Arbitrary<unknown> = fc.oneof(
	hostileText,
	fc.constantFrom<unknown>(
		{ toString: "x", valueOf: 1 },
		{ length: 1e9 },
		{ $ne: null },
		{ constructor: { prototype: { admin: true } } },
		JSON.parse('{"__proto__":{"admin":true}}'),
		[[[[[]]]]],
		[1, 2],
		Array(1_000).fill(0),
	),
	fc.jsonValue({ maxDepth: 3 }),
);
