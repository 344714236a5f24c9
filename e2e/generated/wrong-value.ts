import fc from "fast-check";
import { hostileValue } from "./hostile-text.ts";
import type { JsonSchema } from "./interface-document.ts";

// TypeScript's library does not have this type yet.
const { rawJSON } = JSON as unknown as { rawJSON: (text: string) => unknown };

const addresses = [
	"0x0000000000000000000000000000000000000000",
	"0x0000000000000000000000000000000000000001",
	"0xffffffffffffffffffffffffffffffffffffffff",
	"0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359",
	"0xFb6916095ca1df60bB79Ce92cE3Ea74c37c5d359",
	"0XFB6916095CA1DF60BB79CE92CE3EA74C37C5D359",
	"fB6916095ca1df60bB79Ce92cE3Ea74c37c5d359",
	"0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d35",
	"0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d3590",
	"11111111111111111111111111111111",
	"1111111111111111111111111111111",
	"So11111111111111111111111111111111111111112",
	"7EcDhSYGxXyscszYEp35KHN8vvw3svAuLKTzXwCFLt0",
	"vitalik.eth",
];

const numbers = [
	"-0",
	"0",
	"-1",
	"1.5",
	"1e3",
	"1e21",
	"1e400",
	"-1e400",
	"5e-324",
	"9007199254740993",
	"1.0",
];
const numberTexts = [
	"0",
	"-1",
	"01",
	"1.0",
	"1e3",
	"0x10",
	"+1",
	" 1",
	"1 ",
	"1_000",
	"１２",
	"٣",
	"1\u0000",
	"",
];
const beyond = [2n ** 53n, 2n ** 63n, 2n ** 64n, 2n ** 256n - 1n, 2n ** 256n, 10n ** 78n].map(String);

/** Generates a wrong value for a field, which is of another type, just outside of its bounds, or nearly the same. */
export function wrongValue(schema: JsonSchema, value: unknown): fc.Arbitrary<unknown> {
	const bounds = (schema.anyOf ?? [schema]).flatMap(({ minimum, exclusiveMinimum, maximum }) => [
		...(minimum === undefined ? [] : [minimum - 1, minimum]),
		...(exclusiveMinimum === undefined ? [] : [exclusiveMinimum, exclusiveMinimum + 1]),
		...(maximum === undefined ? [] : [maximum, maximum + 1]),
	]);
	// A generated object may lack everything that converts it to a string.
	const text = typeof value === "object" ? JSON.stringify(value) : String(value);
	return fc.oneof(
		fc.constantFrom<unknown>(null, true, false, "", " ", [], {}, [value], { value }, 0, -1, 1.5),
		fc.constantFrom(...numbers).map(rawJSON),
		fc.constantFrom<unknown>(...numberTexts, ...beyond, ...bounds, ...bounds.map(String)),
		fc.constantFrom(...addresses),
		fc.constantFrom(
			text.toUpperCase(),
			text.toLowerCase(),
			swapCase(text),
			`${text} `,
			`\t${text}`,
			`${text}\u0000`,
			`${text}=`,
			text.slice(0, -1),
			text.slice(1),
			text + text,
			text.normalize("NFKD").concat("\u0301"),
			[...text].reverse().join(""),
			// This still looks like a signature, an address or a token.
			`${text.slice(0, 10)}${text[10] === "1" ? "2" : "1"}${text.slice(11)}`,
		),
		hostileValue,
	);
}

function swapCase(text: string): string {
	return text.replace(/[a-z]/gi, (letter) =>
		letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
	);
}
