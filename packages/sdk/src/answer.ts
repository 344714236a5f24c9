import { natural } from "./expect-same.ts";
import { GeoswapError } from "./geoswap-error.ts";

/** The fields of responses that are amounts. Their names mean amounts wherever they occur. */
const amountFields = [
	"amount",
	"output",
	"minOutput",
	"topUp",
	"recipientAccountCost",
	"deliveredAmount",
	"balance",
] as const;
type AmountField = (typeof amountFields)[number];
/** The fields of responses with a value of a list that may grow. */
type OpenField = "stage" | "code" | "kind" | "accepts" | "removal" | "state" | "type";

/**
 * A response of the service, as this package returns it: amounts are in the smallest unit, as bigint, and lists that may
 * grow are open.
 */
export type Answer<Body> = Body extends readonly (infer Item)[]
	? Answer<Item>[]
	: Body extends object
		? { [Field in keyof Body]: AnswerField<Field, Body[Field]> }
		: Body;
type AnswerField<Field, Value> = Field extends AmountField
	? Exclude<Value, string> | bigint
	: Field extends OpenField
		? Open<Value>
		: Answer<Value>;
type Open<Value> = Value extends string
	? Value | (string & {})
	: Value extends readonly (infer Item)[]
		? Open<Item>[]
		: Value;

/** Returns the response with its amounts as numbers. Throws if one is not a whole number. */
export function answerOf<Body>(body: Body): Answer<Body> {
	return numbered(body) as Answer<Body>;
}

function numbered(value: unknown, path = ""): unknown {
	if (Array.isArray(value)) return value.map((item, i) => numbered(item, `${path}.${i}`));
	if (typeof value !== "object" || value === null) return value;
	return Object.fromEntries(
		Object.entries(value).map(([field, child]) => {
			const at = path === "" ? field : `${path}.${field}`;
			const isAmount = (amountFields as readonly string[]).includes(field) && child !== undefined;
			return [field, isAmount ? amountAt(at, child) : numbered(child, at)];
		}),
	);
}

function amountAt(path: string, value: unknown): bigint {
	try {
		return natural(path, value);
	} catch (cause) {
		throw new GeoswapError(
			`The service's response has no whole number in ${path}. Send the same request again; if it persists, check the address.`,
			{ code: "UNEXPECTED_RESPONSE", next: "retry", retryable: true, docs: "/docs/sdk.md", cause },
		);
	}
}

/** Writes bigints as decimal text, because JSON has none. */
export function toJson(value: unknown): string {
	return JSON.stringify(value, (_, child: unknown) => (typeof child === "bigint" ? String(child) : child));
}
