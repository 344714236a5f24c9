import { readFileSync } from "node:fs";
import { programFile } from "@geoswap/geo-escrow";
import { LiteSVM } from "litesvm";
import { devnetProgram } from "./devnet-program.ts";

let code: Uint8Array | undefined;

/** Creates the virtual machine of a chain with the service's program, without the checks and the history that the chain does itself. */
export function solanaMachine(): LiteSVM {
	const machine = new LiteSVM()
		.withBlockhashCheck(false)
		.withSigverify(false)
		.withTransactionHistory(0n)
		.withNativeMints();
	code ??= new Uint8Array(readFileSync(programFile));
	machine.addProgram(devnetProgram, code);
	return machine;
}
