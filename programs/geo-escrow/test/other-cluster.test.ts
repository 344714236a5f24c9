import { generateKeyPairSigner } from "@solana/kit";
import { expect, test } from "vitest";
import { deployProgram } from "../deploy/deploy-program.ts";
import knownPrograms from "../deploy/known-programs.json" with { type: "json" };

test("the address of a program on one cluster is refused on every other one, where its attesters' signatures would count too", async () => {
	const deployer = await generateKeyPairSigner();
	const [known] = knownPrograms;
	const genesisHash = "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d";
	const attempt = deployProgram({
		deployer,
		program: known?.program,
		cluster: { genesisHash },
		solana: { genesisHash },
	} as never);
	await expect(attempt).rejects.toThrow(`${known?.program} is the program of another cluster`);
});
