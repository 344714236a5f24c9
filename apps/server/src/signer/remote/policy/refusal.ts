import { keyAboveCap } from "../payload.ts";

/** Reasons for which the remote signer does not sign. Metrics and the audit log name them. */
export const refusalReasons = [
	/** The bytes are not what our lanes make: another call, another field, another encoding. */
	"malformed",
	/** Another chain, contract, program, account or attester than the signer's own files name. */
	"not-ours",
	/** The key is not for payloads of this kind. */
	"wrong-kind",
	/** A signature inside the payload, of a wallet or an attester, is not valid. */
	"bad-signature",
	/** A mandate that the wallet's owner did not sign, or that does not allow the agent's order. */
	"bad-mandate",
	/** One transaction would cost more than a transaction may. */
	"too-dear",
	/** The nonce is far above all that were signed. */
	"nonce-ahead",
	/** The order was decided otherwise by a payload that is signed, or on a chain. */
	"contradicts",
	/** All keys together have paid as much of the token as they may for now. */
	"above-cap",
	/** The key has signed, or spent on fees, as much as it may for now. */
	keyAboveCap,
	/** The payment is not proven by a deposit, and payments without proof have reached their cap. */
	"unproven",
	/** No such key for this client. */
	"not-allowed",
] as const;
export type RefusalReason = (typeof refusalReasons)[number];

/** Reasons that time can remove: the same payload may be signed later. */
const passing: ReadonlySet<RefusalReason> = new Set(["above-cap", keyAboveCap, "unproven"]);

/** A payload that is not signed. The message says what about it is wrong, and holds nothing secret. */
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
