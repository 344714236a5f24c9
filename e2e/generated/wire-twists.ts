import fc from "fast-check";
import { type Draft, keyPlace } from "./draft-request.ts";
import type { Twist } from "./twist.ts";

/** Returns mistakes in a request's path, method or HTTP itself. */
export function wireTwists(draft: Draft): Twist[] {
	return [pathTwist, methodTwist, headerTwist, httpTwist].map((twist) => () => twist(draft));
}

/** Generates paths that are equivalent after normalization, and paths that are not. */
function pathTwist(draft: Draft): fc.Arbitrary<Draft> {
	const { path } = draft;
	const same = [
		`${path}/`,
		`/${path}`,
		`${path}//`,
		path.replaceAll("/", "///"),
		`http://other.example${path}`,
	];
	const others = [
		path.toUpperCase(),
		`${path}/x`,
		`${path}/..`,
		`/.${path}`,
		`/x/..${path}`,
		`/%2e%2e${path}`,
		path.replace(/\/(\w)/, "%2f$1"),
		`${path}%00`,
		`${path}%zz`,
		`${path}%`,
		`${path}%20`,
		`${path}+`,
		`${path};a=b`,
		`${path}#x`,
		`${path}\u00e9`,
		`${path}*`,
		`/:swapId${path}`,
		`${path}\\..`,
		"*",
		"/docs/errors/%2e%2e%2f%2e%2e%2fetc%2fpasswd",
		"/swap/status/",
		`/${"x".repeat(9_000)}`,
		`/${"a/".repeat(3_000)}`,
		`/swap/status/${"%2f".repeat(2_000)}`,
	];
	return fc.oneof(
		fc.constantFrom(...same).map((twisted) => ({ ...draft, twist: "the same path", path: twisted })),
		fc.constantFrom(...others).map((twisted) => ({
			...draft,
			twist: `path ${twisted.slice(0, 60)}`,
			path: twisted,
			isReaching: false,
		})),
	);
}

function methodTwist(draft: Draft): fc.Arbitrary<Draft> {
	return fc
		.constantFrom("HEAD", "OPTIONS", "PUT", "PATCH", "DELETE", "TRACE", "CONNECT", "PROPFIND", "PURGE")
		.chain((method) => fc.constantFrom(method, method, method.toLowerCase(), `${method}X`))
		.chain((method) =>
			fc.constantFrom(method, draft.method === "GET" ? "POST" : "GET", "get", "Post", "QUERY"),
		)
		.map((method) => ({ ...draft, twist: `method ${method}`, method, isReaching: false }));
}

function headerTwist(draft: Draft): fc.Arbitrary<Draft> {
	const added = (twist: string, headers: [string, string][], isReaching = true): Draft => ({
		...draft,
		twist,
		isReaching,
		headers: [...draft.headers, ...headers],
	});
	return fc.constantFrom(
		added("headers above the limit", [["x-long", "x".repeat(20_000)]], false),
		added("headers below the limit", [["x-long", "x".repeat(4_000)]]),
		added(
			"many headers",
			Array.from({ length: 200 }, (_, i) => [`x-${i}`, "1"] as [string, string]),
		),
		added(
			"more headers than are read",
			Array.from({ length: 2_100 }, () => ["a", ""] as [string, string]),
			false,
		),
		added("a forged id", [["x-request-id", "theirs\u00e9"]]),
		added("a forged address", [["x-forwarded-for", "' or 1=1, 1.2.3.4, ::1"]]),
		added("a trace that is none", [["traceparent", "00-zz-xx-01"]]),
		added("an origin", [["origin", "https://other.example"]]),
		added("two hosts", [["host", "other"]]),
		added("an upgrade", [
			["connection", "upgrade"],
			["upgrade", "websocket"],
		]),
		added("an upgrade to HTTP/2", [
			["connection", "upgrade, http2-settings"],
			["upgrade", "h2c"],
			["http2-settings", "AAMAAABk"],
		]),
		added("another method in a header", [["x-http-method-override", "DELETE"]]),
		added("what is accepted", [
			["accept", "application/xml"],
			["accept-encoding", "gzip, br, zstd;q=x"],
		]),
		added("a range", [
			["range", "bytes=0-1"],
			["if-none-match", "*"],
			["if-modified-since", "x"],
		]),
		added("a control character", [["x-odd", "a\u0001b"]], false),
		added("a folded header", [["x-odd", "a\r\n b"]], false),
		added("a header without a name", [["", "x"]], false),
		added("a name with a space", [["x odd", "x"]], false),
		added("a header that ends the head", [["x-odd", "a\r\n\r\nGET /health HTTP/1.1"]], false),
	);
}

const crlf = "\r\n";

/** Bytes that are nearly HTTP. Anything that follows them on the connection is not requested. */
function httpTwist(draft: Draft): fc.Arbitrary<Draft> {
	const own = (twist: string, bytes: string, rest: Partial<Draft> = {}): Draft => ({
		...draft,
		twist,
		isReaching: false,
		bytes: Buffer.from(bytes, "latin1"),
		...rest,
	});
	const head = `POST /swap/quote HTTP/1.1${crlf}host: a${crlf}x-api-key: ${keyPlace}${crlf}content-type: application/json${crlf}`;
	const health = Buffer.from(`GET /health HTTP/1.1${crlf}host: a${crlf}${crlf}`);
	const isRead = draft.body === undefined;
	return fc.constantFrom<Draft>(
		{ ...draft, twist: "HTTP/1.0", version: "HTTP/1.0" },
		{ ...draft, twist: "HTTP/1.2", version: "HTTP/1.2", isReaching: false },
		{ ...draft, twist: "HTTP/2.0", version: "HTTP/2.0", isReaching: false },
		{ ...draft, twist: "HTTP/0.9", version: "HTTP/0.9", isReaching: false },
		{ ...draft, twist: "http in small letters", version: "http/1.1", isReaching: false },
		{ ...draft, twist: "no version", version: "", isReaching: false },
		...(isRead
			? [
					{ ...draft, twist: "a read with a body", body: Buffer.from("{}"), isReaching: false },
					{
						...draft,
						twist: "a read with a chunked body",
						body: Buffer.from("["),
						framing: "chunked" as const,
						isReaching: false,
					},
				]
			: [
					{ ...draft, twist: "chunked", framing: "chunked" as const },
					{
						...draft,
						twist: "expects to go on",
						headers: [...draft.headers, ["expect", "100-continue"] as [string, string]],
					},
					{
						...draft,
						twist: "expects the impossible",
						headers: [...draft.headers, ["expect", "magic"] as [string, string]],
					},
				]),
		...(isRead ? [{ ...draft, twist: "pipelined", followedBy: health }] : []),
		own("pipelined behind a wrong body", `${head}content-length: 2${crlf}${crlf}[]`, { followedBy: health }),
		own(
			"length and chunks",
			`${head}content-length: 2${crlf}transfer-encoding: chunked${crlf}${crlf}0${crlf}${crlf}`,
		),
		own("two lengths", `${head}content-length: 2${crlf}content-length: 3${crlf}${crlf}{}`),
		own("the same length twice", `${head}content-length: 2${crlf}content-length: 2${crlf}${crlf}{}`),
		own("a length that is no number", `${head}content-length: 2x${crlf}${crlf}{}`),
		own("a length below zero", `${head}content-length: -2${crlf}${crlf}{}`),
		own("a length above all", `${head}content-length: 99999999999999999999999${crlf}${crlf}{}`),
		own("a length above the limit", `${head}content-length: 1000000${crlf}${crlf}{}`),
		own("less than its length", `${head}content-length: 10${crlf}${crlf}{}`, { isEnded: true }),
		own("chunks without an end", `${head}transfer-encoding: chunked${crlf}${crlf}2${crlf}{}${crlf}`, {
			isEnded: true,
		}),
		own(
			"a chunk of no size",
			`${head}transfer-encoding: chunked${crlf}${crlf}zz${crlf}{}${crlf}0${crlf}${crlf}`,
		),
		own(
			"a chunk of every size",
			`${head}transfer-encoding: chunked${crlf}${crlf}ffffffffffffffffff${crlf}{}${crlf}`,
		),
		own("another coding", `${head}transfer-encoding: gzip${crlf}${crlf}{}`, { isEnded: true }),
		own("chunked in another coding", `${head}transfer-encoding: chunked, gzip${crlf}${crlf}0${crlf}${crlf}`),
		own(
			"chunks with extensions",
			`${head}transfer-encoding: chunked${crlf}${crlf}2;a=b${crlf}{}${crlf}0${crlf}t: 1${crlf}${crlf}`,
		),
		own(
			"chunks above the limit",
			`${head}transfer-encoding: chunked${crlf}${crlf}8001${crlf}${"x".repeat(0x8001)}${crlf}0${crlf}${crlf}`,
		),
		own("only line feeds", `GET /health HTTP/1.1\nhost: a\n\n`),
		own("no head's end", `GET /health HTTP/1.1${crlf}host: a${crlf}`, { isEnded: true }),
		own("not HTTP", `\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003${crlf}${crlf}`),
		own("HTTP/2 with prior knowledge", `PRI * HTTP/2.0${crlf}${crlf}SM${crlf}${crlf}`),
		own("empty lines in front", `${crlf}${crlf}GET /health HTTP/1.1${crlf}host: a${crlf}${crlf}`),
		own("no host", `GET /health HTTP/1.1${crlf}${crlf}`),
		own("no target", `GET HTTP/1.1${crlf}host: a${crlf}${crlf}`),
		own("a space too many", `GET  /health  HTTP/1.1${crlf}host: a${crlf}${crlf}`),
		own("only a name", `GET /health HTTP/1.1${crlf}host${crlf}${crlf}`),
	);
}
