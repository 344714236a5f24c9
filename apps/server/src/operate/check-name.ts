import { ConfigError } from "../config/config-error.ts";

const maxLength = 64;

/** Checks that a name, of an account or of an operator, is readable and can be typed. */
export function checkName(option: string, name: string): string {
	const isPrintable = /^[^\p{C}\p{Z}](?:[^\p{C}\p{Z}]| (?! ))*(?<! )$/u.test(name);
	if (!isPrintable || name.length > maxLength || name !== name.normalize("NFC")) {
		throw new ConfigError(
			option,
			`must be 1 to ${maxLength} printable characters, with spaces only between words and one at a time`,
		);
	}
	return name;
}
