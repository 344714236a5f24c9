import { GeoswapErrorOf } from "./geoswap-error.ts";

/** Thrown instead of signing if this field is not what the caller requested, was quoted or has pinned. */
export class VerificationError extends GeoswapErrorOf<"VERIFICATION_FAILED"> {
	override name = "VerificationError";
	readonly field: string;
	readonly expected: string;
	readonly actual: string;

	constructor({ field, expected, actual }: { field: string; expected: unknown; actual: unknown }) {
		super(
			`Refused to sign: ${field} should be ${expected}, but is ${actual}. Do not sign it; ask the operator why it differs.`,
			{
				code: "VERIFICATION_FAILED",
				next: "contact_operator",
				retryable: false,
				docs: "/docs/signing.md",
				details: { field, expected: String(expected), actual: String(actual) },
			},
		);
		this.field = field;
		this.expected = String(expected);
		this.actual = String(actual);
	}
}
