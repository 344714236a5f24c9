import { keyAboveCap } from "@geoswap/keys/payload";

/** Reasons for which the remote signer does not sign. Metrics and the audit log name them. */
export const refusalReasons = [
	/** The bytes are not what the service's lanes make: another call, another field, another encoding. */
	"malformed",
	/** Another chain, contract, program, account or attester than the signer's own files name. */
	"not-ours",
	/** The key is not for payloads of this kind. */
	"wrong-kind",
	/** A signature inside the payload, of a wallet or an attester, is not valid. */
	"bad-signature",
	/** A mandate that the wallet's owner did not sign, or that does not allow the agent's order. */
	"bad-mandate",
	/** One transaction would exceed the limit of its cost. */
	"too-dear",
	/** The nonce is far above all signed ones. */
	"nonce-ahead",
	/** A signed payload, or a chain, decided the order differently. */
	"contradicts",
	/** All relayers together have paid, or a treasurer has moved, as much of the token as they may in this period. */
	"above-cap",
	/** The key has signed, or spent on fees, as much as it may in this period. */
	keyAboveCap,
	/** No deposit proves the payment, and payments without proof have reached their cap. */
	"unproven",
	/** No such key for this client. */
	"not-allowed",
] as const;
export type RefusalReason = (typeof refusalReasons)[number];

/** Temporary reasons. The same payload may be signed later. */
const passing: ReadonlySet<RefusalReason> = new Set(["above-cap", keyAboveCap, "unproven"]);

/** A payload that is not signed. The message states what is wrong with it, and contains nothing secret. */
export class Refusal extends Error {
	override name = "Refusal";
	readonly reason: RefusalReason;

	constructor(reason: RefusalReason, message: string) {
		super(message);
		this.reason = reason;
	}

	/** Whether the same payload may be signed later. */
	get isPassing(): boolean {
		return passing.has(this.reason);
	}
}

export function refuse(reason: RefusalReason, message: string): never {
	throw new Refusal(reason, message);
}
