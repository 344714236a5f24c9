import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { readArtifact } from "@geoswap/contracts";
import { type Address, bytesToHex, encodeDeployData, type Hex } from "viem";
import type { DevnetToken } from "./devnet-tokens.ts";

const require = createRequire(import.meta.url);

/** Reads a contract that every real chain has at this address: runtime code, or Permit2's creation code. */
export function readPredeploy(address: Address): Hex {
	const folder = dirname(require.resolve("hardhat-predeploy/package.json"));
	return bytesToHex(readFileSync(join(folder, "bin", `${address}.bytecode`)));
}

/** Reads the build of Multicall3 that viem carries for calls without one on the chain, but does not export. */
export async function readMulticall3(): Promise<Hex> {
	const folder = dirname(require.resolve("viem/package.json"));
	const { multicall3Bytecode } = await import(join(folder, "_esm/constants/contracts.js"));
	if (!multicall3Bytecode) throw new Error("this version of viem has no Multicall3");
	return multicall3Bytecode;
}

export function tokenInitCode(token: Pick<DevnetToken, "contract" | "name" | "symbol" | "decimals">): Hex {
	if (token.contract === "WETH9") {
		return require("canonical-weth/build/contracts/WETH9.json").bytecode;
	}
	return encodeDeployData({
		...readArtifact(token.contract),
		args: [token.name, token.symbol, token.decimals],
	});
}
