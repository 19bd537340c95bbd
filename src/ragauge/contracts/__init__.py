"""The records that come in and go out, frozen; everything else imports from here."""
