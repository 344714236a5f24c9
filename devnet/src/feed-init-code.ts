import { readArtifact } from "@geoswap/contracts";
import { type Abi, encodeDeployData, type Hex, parseUnits } from "viem";
import { feedDecimals } from "./devnet-assets.ts";

/** A feed of the devnet that begins with this price. */
export function feedInitCode({ name, usd }: { name: string; usd: string }): Hex {
	const { abi, bytecode }: { abi: Abi; bytecode: Hex } = readArtifact("DevFeed");
	return encodeDeployData({ abi, bytecode, args: [`${name} / USD`, parseUnits(usd, feedDecimals)] });
}
