import { GeoswapErrorOf } from "./geoswap-error.ts";

/** Thrown if a receipt is false, because a field was changed or a chain does not show what the receipt states. */
export class ReceiptError extends GeoswapErrorOf<"RECEIPT_REFUSED"> {
	override name = "ReceiptError";
	/** The field of the receipt that is wrong, or that the chain contradicts. */
	readonly field: string;

	constructor(field: string, problem: string) {
		super(
			`The receipt is refused: ${field} ${problem}. Do not rely on it; ask the operator for another one.`,
			{
				code: "RECEIPT_REFUSED",
				next: "contact_operator",
				retryable: false,
				docs: "/docs/receipts.md",
				details: { field },
			},
		);
		this.field = field;
	}
}
