import { LiteSVM } from "litesvm";

/** The virtual machine that a chain runs on, without what the chain does itself. */
export function solanaMachine(): LiteSVM {
	return new LiteSVM()
		.withBlockhashCheck(false)
		.withSigverify(false)
		.withTransactionHistory(0n)
		.withNativeMints();
}
