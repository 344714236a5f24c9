// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {World} from "../base/World.sol";
import {vm} from "../base/Vm.sol";
import {Token} from "../mocks/Token.sol";

interface ITransmitter {
    function usedNonces(bytes32 nonce) external view returns (uint256);
    function receiveMessage(bytes calldata message, bytes calldata attestation) external returns (bool);
    function sendMessage(uint32, bytes32, bytes32, uint32, bytes calldata) external;
}

interface IMessenger {
    event MintAndWithdraw(
        address indexed mintRecipient, uint256 amount, address indexed mintToken, uint256 feeCollected
    );

    function BURNED() external view returns (address);
    function link(uint32 domain, bytes32 messenger, bytes32 remoteToken, address localToken) external;
    function depositForBurn(uint256, uint32, bytes32, address, bytes32, uint256, uint32) external;
    function handleReceiveFinalizedMessage(uint32, bytes32, uint32, bytes calldata) external returns (bool);
}

/// @dev The model of Circle's contracts. Two of them stand for two chains.
contract DevMessengerTest is World {
    event MessageSent(bytes message);

    uint32 private constant HERE = 0;
    uint32 private constant THERE = 6;
    uint256 private constant AMOUNT = 1_000e6;
    uint256 private constant MAX_FEE = 1e6;
    bytes32 private constant NONCE = keccak256("nonce");
    bytes32 private constant TO = bytes32(uint256(0xbeef));

    ITransmitter private transmitterHere;
    ITransmitter private transmitterThere;
    IMessenger private messengerHere;
    IMessenger private messengerThere;
    Token private tokenHere = new Token();
    Token private tokenThere = new Token();
    uint256[2] private keys;
    address private feeRecipient = _actor("fee recipient");

    function setUp() public {
        (uint256 one, uint256 other) = (uint256(keccak256("one")), uint256(keccak256("other")));
        keys = vm.addr(one) < vm.addr(other) ? [one, other] : [other, one];
        (transmitterHere, messengerHere) = _deploy(HERE);
        (transmitterThere, messengerThere) = _deploy(THERE);
        messengerHere.link(THERE, _word(address(messengerThere)), _word(address(tokenThere)), address(tokenHere));
        messengerThere.link(HERE, _word(address(messengerHere)), _word(address(tokenHere)), address(tokenThere));
        tokenHere.mint(address(this), AMOUNT);
        tokenHere.approve(address(messengerHere), AMOUNT);
    }

    function test_aBurnTakesTheTokensAndSendsCirclesBytes() public {
        bytes memory body = _body(AMOUNT, MAX_FEE, 0, 0);
        bytes memory message = _message(bytes32(0), bytes32(0), 1000, 0, body);
        vm.assertEq(message.length, 148 + 228, "length");
        vm.expectEmit(address(transmitterHere));
        emit MessageSent(message);
        _burn(AMOUNT, THERE, TO, MAX_FEE);
        vm.assertEq(tokenHere.balanceOf(messengerHere.BURNED()), AMOUNT, "burned");
        vm.assertEq(tokenHere.balanceOf(address(this)), 0, "left");
    }

    function test_anAttestedMessageIsMintedOnceToItsRecipientLessTheFee() public {
        bytes memory message = _message(NONCE, bytes32(0), 1000, 1000, _body(AMOUNT, MAX_FEE, MAX_FEE, 0));
        bytes memory attestation = _attest(message);
        vm.expectEmit(address(messengerThere));
        emit IMessenger.MintAndWithdraw(address(0xbeef), AMOUNT - MAX_FEE, address(tokenThere), MAX_FEE);
        vm.prank(stranger);
        transmitterThere.receiveMessage(message, attestation);
        vm.assertEq(tokenThere.balanceOf(address(0xbeef)), AMOUNT - MAX_FEE, "minted");
        vm.assertEq(tokenThere.balanceOf(feeRecipient), MAX_FEE, "fee");
        vm.assertEq(transmitterThere.usedNonces(NONCE), 1, "nonce");
        _refused(message, attestation, "Nonce already used");
        // Another attestation of the same burn has the same nonce.
        _refused(_message(NONCE, bytes32(0), 1000, 2000, _body(AMOUNT, MAX_FEE, 0, 0)), "Nonce already used");
    }

    function test_aMessageWithoutAllAttestersSignaturesIsRefused() public {
        bytes memory message = _message(NONCE, bytes32(0), 2000, 2000, _body(AMOUNT, 0, 0, 0));
        bytes memory attestation = _attest(message);
        _refused(message, "", "Invalid attestation length");
        _refused(message, bytes.concat(_sign(keys[0], message)), "Invalid attestation length");
        (keys[0], keys[1]) = (keys[1], keys[0]);
        _refused(message, _attest(message), "Invalid signature: not attester");
        // Any other byte is another digest.
        message[200] = bytes1(uint8(message[200]) ^ 1);
        _refused(message, attestation, "Invalid signature: not attester");
    }

    function test_aMessageThatIsNotForThisChainIsRefused() public {
        bytes memory body = _body(AMOUNT, MAX_FEE, 0, 0);
        bytes memory message = _message(NONCE, bytes32(0), 2000, 2000, body);
        bytes memory attestation = _attest(message);
        vm.expectRevert("Invalid destination domain");
        transmitterHere.receiveMessage(message, attestation);
        _refused(_message(NONCE, TO, 2000, 2000, body), "Invalid caller for message");
        _refused(_message(bytes32(0), bytes32(0), 2000, 2000, body), "Nonce already used");
        _refused(_message(NONCE, bytes32(0), 1000, 499, body), "Unsupported finality threshold");
        message[3] = 0;
        _refused(message, "Invalid message version");
        _refused(_message(NONCE, bytes32(0), 2000, 2000, ""), "Invalid burn message: too short");
        _refused(hex"00000001", "Invalid message: too short");
    }

    function test_aFeeIsAtMostTheMaximumAndLessThanTheAmount() public {
        _refused(_message(NONCE, 0, 1000, 1000, _body(AMOUNT, MAX_FEE, MAX_FEE + 1, 0)), "Fee exceeds max fee");
        _refused(_message(NONCE, 0, 1000, 1000, _body(AMOUNT, AMOUNT, AMOUNT, 0)), "Fee equals or exceeds amount");
    }

    function test_aMessageExpiresWithItsBlockAndIsMintedOnceItIsAttestedAnew() public {
        bytes memory expired = _message(NONCE, 0, 1000, 1000, _body(AMOUNT, MAX_FEE, 0, block.number));
        _refused(expired, "Message expired and must be re-signed");
        bytes memory anew = _message(NONCE, 0, 1000, 2000, _body(AMOUNT, MAX_FEE, 0, 0));
        transmitterThere.receiveMessage(anew, _attest(anew));
        vm.assertEq(tokenThere.balanceOf(address(0xbeef)), AMOUNT, "minted");
    }

    function test_onlyALinkedMessengersMessagesMint() public {
        bytes memory body = _body(AMOUNT, 0, 0, 0);
        vm.expectRevert("Invalid message transmitter");
        messengerThere.handleReceiveFinalizedMessage(HERE, _word(address(messengerHere)), 2000, body);
        messengerThere.link(HERE, _word(stranger), _word(address(tokenHere)), address(tokenThere));
        _refused(_message(NONCE, 0, 2000, 2000, body), "Remote TokenMessenger unsupported");
        messengerThere.link(HERE, _word(address(messengerHere)), _word(address(tokenHere)), address(0));
        _refused(_message(NONCE, 0, 2000, 2000, body), "Mint token not supported");
    }

    function test_aBurnThatCircleRefusesIsRefused() public {
        vm.expectRevert("Amount must be nonzero");
        _burn(0, THERE, TO, 0);
        vm.expectRevert("Mint recipient must be nonzero");
        _burn(AMOUNT, THERE, bytes32(0), 0);
        vm.expectRevert("Max fee must be less than amount");
        _burn(AMOUNT, THERE, TO, AMOUNT);
        vm.expectRevert("No TokenMessenger for domain");
        _burn(AMOUNT, THERE + 1, TO, 0);
        vm.expectRevert("Domain is local domain");
        transmitterHere.sendMessage(HERE, TO, 0, 2000, "");
        vm.expectRevert("Recipient must be nonzero");
        transmitterHere.sendMessage(THERE, 0, 0, 2000, "");
    }

    function _deploy(uint32 domain) private returns (ITransmitter transmitter, IMessenger messenger) {
        address[] memory attesters = new address[](2);
        (attesters[0], attesters[1]) = (vm.addr(keys[0]), vm.addr(keys[1]));
        transmitter = ITransmitter(vm.deployCode("DevTransmitter.sol:DevTransmitter", abi.encode(domain, attesters)));
        messenger = IMessenger(vm.deployCode("DevMessenger.sol:DevMessenger", abi.encode(transmitter, feeRecipient)));
    }

    function _burn(uint256 amount, uint32 domain, bytes32 to, uint256 maxFee) private {
        messengerHere.depositForBurn(amount, domain, to, address(tokenHere), bytes32(0), maxFee, 1000);
    }

    function _body(uint256 amount, uint256 maxFee, uint256 fee, uint256 expirationBlock)
        private
        view
        returns (bytes memory)
    {
        bytes32 sender = _word(address(this));
        return abi.encodePacked(uint32(1), _word(address(tokenHere)), TO, amount, sender, maxFee, fee, expirationBlock);
    }

    function _message(bytes32 nonce, bytes32 caller, uint32 minFinality, uint32 finality, bytes memory body)
        private
        view
        returns (bytes memory)
    {
        (bytes32 from, bytes32 to) = (_word(address(messengerHere)), _word(address(messengerThere)));
        return abi.encodePacked(uint32(1), HERE, THERE, nonce, from, to, caller, minFinality, finality, body);
    }

    function _refused(bytes memory message, bytes memory reason) private {
        _refused(message, _attest(message), reason);
    }

    function _refused(bytes memory message, bytes memory attestation, bytes memory reason) private {
        vm.expectRevert(reason);
        transmitterThere.receiveMessage(message, attestation);
    }

    function _attest(bytes memory message) private view returns (bytes memory) {
        return bytes.concat(_sign(keys[0], message), _sign(keys[1], message));
    }

    function _sign(uint256 key, bytes memory message) private pure returns (bytes memory) {
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(key, keccak256(message));
        return abi.encodePacked(r, s, v);
    }

    function _word(address account) private pure returns (bytes32) {
        return bytes32(uint256(uint160(account)));
    }
}
