/** A field of a tool's arguments, in JSON Schema. */
export type ModelField =
	| { type: "integer"; minimum: number; description: string }
	| { type: "string"; minLength: number; maxLength: number; description: string }
	| { type: "string"; pattern: string; description: string }
	| { type: "string"; enum: readonly string[]; description: string };

const uint = { type: "string", pattern: "^[1-9][0-9]{0,77}$" } as const;
const chainId = { type: "integer", minimum: 1 } as const;
const address = { type: "string", minLength: 1, maxLength: 100 } as const;

export const swapFields = {
	originChain: { ...chainId, description: "Id of the chain that the input is on." },
	destinationChain: { ...chainId, description: "Id of the chain to deliver on." },
	inputToken: { ...address, description: "Address of the token to give." },
	outputToken: { ...address, description: "Address of the token to get." },
	amount: { ...uint, description: "Amount to give, in the smallest unit of the input token." },
	recipient: { ...address, description: "Address that gets the output." },
} as const satisfies Record<string, ModelField>;

export const minOutputField = {
	...uint,
	description: "The least output to accept, in the smallest unit of the output token.",
} as const satisfies ModelField;

/** Fields of a swap that a call may leave out. */
export const optionalFields = {
	exact: {
		type: "string",
		enum: ["input", "output"],
		description:
			"output: give as little as minOutput takes, and amount at most, such as for an invoice. input, the default: give exactly amount.",
	},
	topUpUsd: {
		type: "string",
		pattern: "^[0-9]{1,4}(\\.[0-9]{1,2})?$",
		description:
			"Value in USD, such as 0.50, of the destination's native token that the recipient gets for its gas, if it has none there. It is deducted from the output.",
	},
} as const satisfies Record<string, ModelField>;

type Fields = Readonly<Record<string, ModelField>>;

/** Returns the arguments' JSON Schema. */
export function schemaOf(required: Fields, optional: Fields = {}) {
	return {
		type: "object",
		properties: { ...required, ...optional },
		required: Object.keys(required),
		additionalProperties: false,
	};
}

/** Returns what is wrong with a model's arguments, or undefined. */
export function problemOf(value: unknown, required: Fields, optional: Fields = {}): string | undefined {
	if (typeof value !== "object" || value === null) return "the input is not an object";
	const given = value as Record<string, unknown>;
	const all = { ...optional, ...required };
	if (Object.keys(given).some((name) => !Object.hasOwn(all, name))) return "there is an unknown field";
	return Object.entries(all).find(
		([name, field]) => (name in required || given[name] !== undefined) && !isValid(field, given[name]),
	)?.[0];
}

function isValid(field: ModelField, value: unknown): boolean {
	if (field.type === "integer") return Number.isSafeInteger(value) && Number(value) >= field.minimum;
	if (typeof value !== "string") return false;
	if ("enum" in field) return field.enum.includes(value);
	if ("pattern" in field) return new RegExp(field.pattern).test(value);
	return value.length >= field.minLength && value.length <= field.maxLength;
}
