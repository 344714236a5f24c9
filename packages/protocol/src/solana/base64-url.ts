import { getBase64Decoder } from "@solana/kit";

export function base64UrlOf(bytes: Uint8Array): string {
	return getBase64Decoder().decode(bytes).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
