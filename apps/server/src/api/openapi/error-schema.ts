import {
	type ErrorBody,
	type ErrorCode,
	type ErrorDetails,
	errorCatalogue,
	type NextStep,
	openEnum,
	rateLimitReasons,
	SwapError,
} from "@geoswap/protocol";
import * as z from "zod";

type ErrorDoc<Code extends ErrorCode> = (Code extends keyof ErrorDetails
	? { details: z.ZodType<ErrorDetails[Code]>; example: ErrorDetails[Code] }
	: { details?: never; example?: never }) & {
	/** Another value that `next` may have, besides the catalogue's. With `retry` the same bytes may succeed later. */
	alsoNext?: NextStep;
};

const wallet = "0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A";
const delegate = "0xdaf95cec9F422D8d9CA7c0Fe2a449890b36D0Fd8";
const expired = z.object({
	expiredAt: z.iso.datetime({ precision: 3 }).describe("When the quote or op expired."),
});

/** The schemas of each error's details, with plausible examples. */
const errorDocs: { [Code in ErrorCode]: ErrorDoc<Code> } = {
	INVALID_REQUEST: {
		details: z.object({
			issues: z
				.array(
					z.object({
						path: z.string().describe("The path of the field, with dots between an object and its fields."),
						message: z.string().describe("What is wrong with it."),
					}),
				)
				.describe("What is wrong, field by field. An empty path is the request itself."),
			accepted: z.array(z.string()).exactOptional().describe("The known fields."),
			didYouMean: z
				.record(z.string(), z.string())
				.exactOptional()
				.describe("For an unknown field, the known field that was probably meant."),
		}),
		example: {
			issues: [{ path: "slippage", message: "unknown field" }],
			accepted: [
				...["originChain", "destinationChain", "inputToken", "outputToken"],
				...["amount", "walletAddress", "recipient", "slippageBps", "mandate"],
			],
			didYouMean: { slippage: "slippageBps" },
		},
	},
	INVALID_SIGNATURE: {
		details: z.object({
			expected: z.string().describe("The wallet that must sign."),
			recovered: z
				.string()
				.exactOptional()
				.describe("The address that signed, assuming that it signed the right bytes."),
			looksLike: z
				.string()
				.exactOptional()
				.describe(
					"What the signature looks like: `hex_text` is a common mistake; `personal_sign` or `typed_data` is a right signature of a kind that the wallet's account, or the given `signatureKind`, does not accept.",
				),
		}),
		example: {
			expected: wallet,
			recovered: "0x4D1c5a9b7E2f1E6d0b8c3A7F5e9D2c4B6a8f0E1d",
			looksLike: "hex_text",
		},
	},
	TRANSACTION_CHANGED: {
		details: z.object({ changed: z.string().describe("The first part that differs from what was built.") }),
		example: { changed: "instructions" },
	},
	UNAUTHORIZED: {},
	INVALID_TOKEN: {
		details: z.object({
			reason: openEnum(["unreadable", "wrong_endpoint", "other_account"]).describe(
				"Why the token is not accepted.",
			),
			endpoint: z
				.string()
				.exactOptional()
				.describe("With `wrong_endpoint`: the endpoint that takes the token, as method and path."),
		}),
		example: { reason: "unreadable" },
		alsoNext: "fix_request",
	},
	SWAP_NOT_FOUND: {},
	NOT_FOUND: {},
	RECEIPTS_NOT_OFFERED: {},
	SWAP_NOT_ENDED: {},
	METHOD_NOT_ALLOWED: {
		details: z.object({ allow: z.array(z.string()).describe("The methods that the path supports.") }),
		example: { allow: ["POST"] },
	},
	REQUEST_TIMEOUT: {},
	NEEDS_DELEGATION: {
		details: z.object({
			delegationTarget: z.string().describe("Sign it as the authorization's `address`."),
			accountNonce: z.int().describe("Sign it as the authorization's `nonce`."),
		}),
		example: { delegationTarget: delegate, accountNonce: 0 },
	},
	INVALID_AUTHORIZATION: {
		details: z.object({
			reason: openEnum(["nonce", "signer", "address", "chain", "pending_transactions"]).describe(
				"What does not match the wallet's state.",
			),
			expected: z.union([z.string(), z.int()]).exactOptional().describe("The expected value."),
		}),
		example: { reason: "nonce", expected: 4 },
		alsoNext: "retry",
	},
	WALLET_BUSY: {
		details: z.object({
			swapIds: z.array(z.string()).describe("The swaps of this account that have not ended. May be empty."),
		}),
		example: { swapIds: ["swp_01h2xcejqtf2nbrexx3vqjhp41"] },
	},
	LIQUIDITY_CHANGED: {
		details: z.object({
			reason: openEnum(["price", "inventory", "paused"]).describe(
				"Why the quoted output is no longer available.",
			),
		}),
		example: { reason: "price" },
		alsoNext: "fix_request",
	},
	QUOTE_EXPIRED: { details: expired, example: { expiredAt: "2026-06-01T12:00:30.000Z" } },
	OP_EXPIRED: {
		details: expired,
		example: { expiredAt: "2026-06-01T12:01:30.000Z" },
		alsoNext: "contact_operator",
	},
	BODY_TOO_LARGE: {},
	UNSUPPORTED_MEDIA_TYPE: {},
	INVALID_MANDATE: {
		details: z.object({
			reason: openEnum(["signature", "wallet", "escrow", "form", "desk", "quote"]).describe(
				"`signature`: the wallet's owner did not sign it. `wallet`: it is for another wallet. `escrow` or `desk`: it is for another chain, or for contracts that this service no longer uses. `form`: the wallet's account would refuse it. `quote`: the quote had another one, or none.",
			),
		}),
		example: { reason: "signature" },
	},
	MANDATE_ENDED: {
		details: z.object({
			reason: openEnum(["expired", "revoked"]).describe(
				"`expired`: it ends before the order must be opened. `revoked`: its owner has ended all mandates of its epoch.",
			),
		}),
		example: { reason: "revoked" },
	},
	OUTSIDE_MANDATE: {
		details: z.object({
			reason: openEnum(["input", "output", "recipient", "amount"]).describe(
				"What the mandate does not allow: the input token, the output token, the recipient, or so much at once.",
			),
			maximumAmount: z
				.string()
				.exactOptional()
				.describe(
					"With `amount`: the most that the mandate allows at once, in the input token's smallest unit.",
				),
		}),
		example: { reason: "amount", maximumAmount: "5000000" },
	},
	MANDATE_EXCEEDED: {
		details: z.object({
			available: z.string().describe("What the mandate allows now, in the input token's smallest unit."),
			required: z.string().describe("The input of the swap."),
		}),
		example: { available: "1250000", required: "5000000" },
	},
	UNSUPPORTED_DELEGATION: {
		details: z.object({
			delegatedTo: z
				.string()
				.exactOptional()
				.describe("The other provider's contract. Absent if the wallet is itself a contract."),
		}),
		example: { delegatedTo: "0x63c0c19a282a1B52b07dD5a65b58948A07DAE32B" },
	},
	NO_ROUTE: {
		details: z.object({
			reason: openEnum(["chain", "token", "pair", "paused", "capacity", "denied"]).describe(
				"Why the swap is not offered. `denied`: the operator does not swap for the wallet or to the recipient.",
			),
			side: z
				.enum(["origin", "destination"])
				.exactOptional()
				.describe(
					"The side of the swap that is not offered, if only one is. With `denied`: `origin` is the wallet, `destination` the recipient.",
				),
			accepted: z
				.array(z.string())
				.exactOptional()
				.describe(
					"The values that are offered: chain ids with the reason `chain`, token addresses of the chain with `token`. Send one of them in the field of that side.",
				),
			maximumAmount: z
				.string()
				.exactOptional()
				.describe("The most that can be swapped now: of the output, if the request has `outputAmount`."),
		}),
		example: { reason: "capacity", maximumAmount: "250000000000" },
		alsoNext: "retry",
	},
	NEEDS_LARGER_SIZE: {
		details: z.object({
			minimumAmount: z
				.string()
				.describe(
					"The least that is quoted now, in the input token's smallest unit, or in the output token's, if the request has `outputAmount`.",
				),
		}),
		example: { minimumAmount: "1250000" },
	},
	INSUFFICIENT_BALANCE: {
		details: z.object({
			balance: z.string().describe("What the wallet can give now."),
			required: z.string().describe("What the swap needs."),
		}),
		example: { balance: "7500000", required: "10000000" },
	},
	SIMULATION_FAILED: {
		details: z.object({
			reason: z.string().describe("The chain's own error message, or why the recipient cannot be paid."),
		}),
		example: { reason: "ERC20: transfer amount exceeds balance" },
	},
	RATE_LIMITED: {
		details: z.object({
			reason: openEnum(rateLimitReasons).exactOptional().describe("The limit that was reached."),
			retryAfterSeconds: z
				.number()
				.exactOptional()
				.describe("How many seconds to wait, as in `Retry-After`."),
		}),
		example: { reason: "rate", retryAfterSeconds: 1 },
	},
	INTERNAL: {},
	UPSTREAM_UNAVAILABLE: {
		details: z.object({
			upstream: z.string().exactOptional().describe("The chain or service that does not answer."),
			retryAfterSeconds: z
				.number()
				.exactOptional()
				.describe("How many seconds to wait, as in `Retry-After`, if that is known."),
			notReady: z
				.array(
					z.object({
						name: z.string().describe("The part that does not work."),
						problem: z.string().describe("What is wrong with it."),
					}),
				)
				.exactOptional()
				.describe("Only from GET /ready: everything that this process waits for, or that it is stopping."),
		}),
		example: { upstream: "chain 8453" },
	},
};

/** Returns the schema of this error's details; undefined if it has none. */
export function errorDetailsSchema(code: ErrorCode): z.ZodType | undefined {
	return errorDocs[code].details;
}

/** Returns an example body of this error. */
export function errorExample(code: ErrorCode): ErrorBody {
	const { next, retryable } = errorCatalogue[code];
	const { example } = errorDocs[code];
	const { message } = new SwapError(code, example as never);
	return {
		code,
		message,
		next,
		retryable,
		requestId: "7b0d2a4e-6f0c-4a53-9d0e-2f5b1c3a8e64",
		...(example && { details: { ...example } }),
	};
}

/** Returns the exact schema of a body with this code. */
export function errorSchema(code: ErrorCode): z.ZodType {
	const { message, next, retryable, http } = errorCatalogue[code];
	const { details, alsoNext } = errorDocs[code];
	return z
		.object({
			code: z.literal(code).describe("The error's code, for programs."),
			message: z.string().describe("What happened and what to do, for people."),
			next: (alsoNext ? z.enum([next, alsoNext]) : z.literal(next)).describe("What to do, for programs."),
			retryable:
				alsoNext === "retry"
					? z.boolean().describe("True with `next: retry`: the same bytes may succeed later.")
					: z.literal(retryable).describe("Whether the same bytes may succeed later."),
			requestId: z.string().describe("The request's id, to give to the operator."),
			...(details && { details: details.describe("More about the error, for programs.") }),
		})
		.describe(`HTTP ${http}. ${message}`);
}

/** The errors that a client must be ready for, since codes, next steps and details may be added. */
export const otherErrorSchema = z
	.object({
		code: z.string().describe("The error's code, for programs."),
		message: z.string().describe("What happened and what to do, for people."),
		next: z.string().describe("What to do, for programs. Treat an unknown value as `contact_operator`."),
		retryable: z.boolean().describe("Whether the same bytes may succeed later."),
		requestId: z.string().describe("The request's id, to give to the operator."),
		details: z
			.record(z.string(), z.unknown())
			.exactOptional()
			.describe("More about the error, for programs."),
	})
	.describe(
		"An error with a code, a next step or details that this version does not have. Handle it by its `next` and its HTTP status.",
	);

/** Converts a code such as `NO_ROUTE` to `NoRouteError`. */
export function errorSchemaName(code: ErrorCode): string {
	const words = code.split("_").map((word) => `${word[0]}${word.slice(1).toLowerCase()}`);
	return `${words.join("")}Error`;
}
