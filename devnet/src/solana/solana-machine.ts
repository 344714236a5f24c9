import { LiteSVM } from "litesvm";

/** Creates the virtual machine of a chain, without the checks and the history that the chain does itself. */
export function solanaMachine(): LiteSVM {
	return new LiteSVM()
		.withBlockhashCheck(false)
		.withSigverify(false)
		.withTransactionHistory(0n)
		.withNativeMints();
}
